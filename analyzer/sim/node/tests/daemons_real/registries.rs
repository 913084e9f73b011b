//! Registries: whom a real containerd client asks for an image, in which order, with generated `hosts.toml` folders.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use casefile_sim_node::containerd::{MapTree, RootFile, cri_view, resolve};
use casefile_sim_node::runtimes::registry;

use crate::dice::Dice;
use crate::{apart, number, programs, verdict, version_of};

/// Nothing leads to these, so that each host fails at once and the next is asked. (Of hosts on the loopback clients think otherwise.)
const REGISTRY: &str = "10.99.0.1:5999";

/// Pulls with each folder; the words of a pull are left in a file beside it. From 2.0 only a local pull says whom it asks.
const PULL: &str = r#"here=$1; daemon=$2
bin=$(dirname "$daemon")
ctr=$bin/ctr; [ -x "$ctr" ] || ctr=ctr
"$daemon" --root /var/lib/c --state /run/c --address /run/c.sock >"$here/daemon.log" 2>&1 &
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  "$ctr" --address /run/c.sock version >/dev/null 2>&1 && break
  sleep 0.5
done
local=
"$ctr" images pull --help | grep -q -- ' --local' && local=--local
for folder in "$here"/case*; do
  "$ctr" --debug --address /run/c.sock images pull $local --hosts-dir "$folder" 10.99.0.1:5999/a/b:1 >"$here/said.${folder##*/}" 2>&1
done
exit 0"#;

const SERVERS: &[&str] = &[
    "",
    "",
    "server = \"http://10.99.0.1:5003\"\n",
    "server = \"http://10.99.0.1:5003/\"\n",
    "server = \"http://10.99.0.1:5003/v2\"\n",
    "server = \"10.99.0.1:5004\"\n",
    "server = \"https://10.99.0.1:5999\"\n",
    "server = 5\n",
];

const OPTIONS: &[&str] = &[
    "",
    "",
    "capabilities = [\"pull\", \"resolve\"]\n",
    "capabilities = [\"pull\"]\n",
    "capabilities = [\"push\"]\n",
    "capabilities = [\"resolve\"]\n",
    "capabilities = \"pull\"\n",
    "capabilities = [\"read\"]\n",
    "capabilities = []\n",
    "skip_verify = true\n",
    "override_path = true\n",
    "skip_verify = \"yes\"\n",
    "ca = \"/nowhere/ca.crt\"\n",
    "unknown = 1\n",
];

const HOSTS: &[&str] = &[
    "http://10.99.0.2:5001",
    "http://10.99.0.2:5002",
    "http://10.99.0.3:5001/",
    "https://10.99.0.4:5001",
    "http://10.99.0.2:5006/v2/mirror",
    "10.99.0.5:5001",
    "http://10.99.0.1:5999",
];

fn file(dice: &mut Dice) -> String {
    let mut text = dice.pick(SERVERS).to_owned();
    let mut seen = Vec::new();
    for _ in 0..dice.below(4) {
        let host = dice.pick(HOSTS);
        if seen.contains(&host) {
            continue;
        }
        seen.push(host);
        write!(text, "[host.\"{host}\"]\n{}", dice.pick(OPTIONS)).unwrap();
    }
    match dice.below(25) {
        0 => text.push_str("[host\n"),
        1 => text.clear(),
        2 => text.push_str("host = 1\n"),
        _ => {}
    }
    text
}

/// Folders of one `config_path`, on the disk and in the tree.
fn folders(dice: &mut Dice, at: &Path, tree: &mut MapTree) {
    std::fs::create_dir_all(at).unwrap();
    for (name, chance) in [
        ("10.99.0.1:5999", 60),
        ("10.99.0.1_5999_", 25),
        ("_default", 30),
        ("other", 10),
    ] {
        if !dice.chance(chance) {
            continue;
        }
        let folder = at.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        if dice.chance(8) {
            tree.add_listed(folder.to_str().unwrap());
            continue;
        }
        let (path, text) = (folder.join("hosts.toml"), file(dice));
        std::fs::write(&path, &text).unwrap();
        tree.add(path.to_str().unwrap(), name, &text);
    }
}

/// Scheme and host of a URL.
fn origin(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    format!("{scheme}://{}", rest.split('/').next().unwrap_or_default())
}

/// Whom the client asked for the image's name, in order.
fn asked(said: &str) -> Vec<String> {
    let requests = said
        .lines()
        .filter(|line| line.contains("msg=\"do request\""));
    let urls = requests.filter_map(|line| line.split("url=\"").nth(1)?.split('"').next());
    let mut out: Vec<String> = Vec::new();
    for url in urls.map(origin) {
        // A refused request is sent again before the next host is asked.
        if out.last() != Some(&url) {
            out.push(url);
        }
    }
    out
}

#[test]
fn a_containerd_client_asks_the_hosts_that_we_say_in_our_order() {
    let count = number("CASEFILE_REGISTRIES", 40);
    let mut all = Vec::new();
    for daemon in programs("CASEFILE_CONTAINERD_BINS", "containerd") {
        let version = version_of(&daemon).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let v1 = version.contains(" 1.");
        let mut trees = Vec::new();
        for seed in 1..=count {
            let mut tree = MapTree::whole();
            folders(
                &mut Dice::new(seed),
                &dir.path().join(format!("case{seed}")),
                &mut tree,
            );
            trees.push((seed, tree));
        }
        let words = [
            "-c",
            PULL,
            "sh",
            dir.path().to_str().unwrap(),
            daemon.to_str().unwrap(),
        ];
        let words = words.map(str::to_owned);
        let mut command = apart::command(dir.path(), Path::new("sh"), &words);
        command.env("PATH", apart::path_with(&daemon));
        let ended = apart::wait(
            &mut apart::start(&mut command, &dir.path().join("log")),
            Duration::from_secs(600),
        );
        assert_eq!(
            ended,
            Some(true),
            "{}",
            std::fs::read_to_string(dir.path().join("log")).unwrap()
        );
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        for (seed, tree) in trees {
            let said =
                std::fs::read_to_string(dir.path().join(format!("said.case{seed}"))).unwrap();
            match compared(&dir.path().join(format!("case{seed}")), tree, &said, v1) {
                Ok(name) => *seen.entry(name).or_default() += 1,
                Err(how) => all.push(format!("{version} seed {seed}: {how}")),
            }
        }
        println!(
            "{version}\n  {count} folders: {seen:?}, {} differ",
            all.len()
        );
    }
    verdict("folders", &all);
}

fn bare(urls: &[String]) -> Vec<&str> {
    urls.iter()
        .filter_map(|url| Some(url.split_once("://")?.1))
        .collect()
}

fn compared(
    folder: &Path,
    mut tree: MapTree,
    said: &str,
    v1: bool,
) -> Result<&'static str, String> {
    const ROOT: &str = "/etc/containerd/config.toml";
    let text = format!(
        "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry]\nconfig_path = \"{}\"\n",
        folder.display()
    );
    tree.add(ROOT, "root", &text);
    let root = RootFile {
        path: ROOT,
        explicit: false,
    };
    let config = resolve(&tree, root, Some(if v1 { "1.7.24" } else { "2.1.9" }));
    let ours = registry::resolve(&tree, &config, &cri_view(&config), REGISTRY);
    let theirs = asked(said);
    // A name with a tag is asked of hosts that both resolve and serve.
    let can = |one: &registry::Endpoint, word: &str| {
        one.capabilities.is_empty() || one.capabilities.iter().any(|own| own == word)
    };
    let resolves = |one: &&registry::Endpoint| can(one, "resolve") && can(one, "pull");
    let mut expected: Vec<String> = Vec::new();
    for url in ours
        .endpoints
        .iter()
        .filter(resolves)
        .map(|one| origin(&one.url))
    {
        if expected.last() != Some(&url) {
            expected.push(url);
        }
    }
    let last = said.lines().last().unwrap_or_default();
    match (ours.fault.is_empty(), theirs.is_empty()) {
        (false, true) => Ok("every pull fails, as we say"),
        (true, true) => Err(format!("the client asks nobody: {last}; ours {expected:?}")),
        (_, false) if theirs == expected && !ours.fault.is_empty() => {
            Ok("the file is left out, as we say")
        }
        (_, false) if theirs == expected => Ok("the same hosts in the same order"),
        // From 1.7 an http host with settings of TLS is asked by https first, and by http where that is no TLS.
        (_, false) if bare(&theirs) == bare(&expected) => {
            Ok("the same hosts, one of them by https")
        }
        (_, false) => Err(format!(
            "the client asks {theirs:?}, we say {expected:?} {}",
            ours.fault
        )),
    }
}
