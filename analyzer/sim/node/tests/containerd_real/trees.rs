//! Generated trees of root files, imports and drop-ins: valid, invalid, of mixed versions.

use std::fmt::Write as _;
use std::path::Path;

use casefile_sim_node::containerd::MapTree;

/// A small deterministic generator (xorshift64*).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }
}

fn runtime(out: &mut String, dice: &mut Dice, at: &str) {
    let name = dice.pick(&["runc", "nvidia", "nvidia-cdi", "kata", "untrusted"]);
    writeln!(out, "[{at}.runtimes.{name}]").unwrap();
    if dice.chance(80) {
        writeln!(
            out,
            "runtime_type = \"{}\"",
            dice.pick(&["io.containerd.runc.v2", "io.containerd.kata.v2", ""])
        )
        .unwrap();
    }
    if dice.chance(30) {
        writeln!(
            out,
            "privileged_without_host_devices = {}",
            dice.pick(&["true", "false"])
        )
        .unwrap();
    }
    if dice.chance(20) {
        writeln!(
            out,
            "snapshotter = \"{}\"",
            dice.pick(&["overlayfs", "devmapper", ""])
        )
        .unwrap();
    }
    if dice.chance(15) {
        writeln!(
            out,
            "base_runtime_spec = \"/etc/spec{}.json\"",
            dice.below(3)
        )
        .unwrap();
    }
    if dice.chance(10) {
        writeln!(
            out,
            "{} = \"podsandbox\"",
            dice.pick(&["sandbox_mode", "sandboxer", "unknown_key"])
        )
        .unwrap();
    }
    if dice.chance(3) {
        writeln!(
            out,
            "{}",
            dice.pick(&[
                "cni_conf_dir = 5",
                "pod_annotations = \"x\"",
                "cni_max_conf_num = \"1\""
            ])
        )
        .unwrap();
    }
    if dice.chance(4) {
        writeln!(
            out,
            "{} = \"x\"",
            dice.pick(&["runtime_engine", "runtime_root"])
        )
        .unwrap();
    }
    options(out, dice, &format!("{at}.runtimes.{name}.options"));
}

fn options(out: &mut String, dice: &mut Dice, at: &str) {
    if dice.chance(10) {
        writeln!(
            out,
            "options = {{ BinaryName = \"/inline/runc\", SystemdCgroup = true }}"
        )
        .unwrap();
        return;
    }
    if dice.chance(70) {
        writeln!(out, "[{at}]").unwrap();
        if dice.chance(70) {
            writeln!(
                out,
                "BinaryName = \"{}\"",
                dice.pick(&["/usr/bin/nvidia-container-runtime", "/opt/runc", ""])
            )
            .unwrap();
        }
        if dice.chance(60) {
            writeln!(out, "SystemdCgroup = {}", dice.pick(&["true", "false"])).unwrap();
        }
    }
}

/// The `[….containerd]` part: its keys, then distinct runtimes.
fn containerd_part(out: &mut String, dice: &mut Dice, plugin: &str) {
    let at = format!("plugins.{plugin}.containerd");
    writeln!(out, "[{at}]").unwrap();
    if dice.chance(50) {
        writeln!(
            out,
            "default_runtime_name = \"{}\"",
            dice.pick(&["runc", "nvidia", "nvidia", ""])
        )
        .unwrap();
    }
    if dice.chance(20) {
        writeln!(
            out,
            "snapshotter = \"{}\"",
            dice.pick(&["overlayfs", "native"])
        )
        .unwrap();
    }
    if dice.chance(10) {
        writeln!(out, "[{at}.runtimes]").unwrap();
    }
    let mut seen = Vec::new();
    for _ in 0..dice.below(4) {
        let mut one = String::new();
        runtime(&mut one, dice, &at);
        let head = one.lines().next().unwrap_or_default().to_owned();
        if !seen.contains(&head) {
            out.push_str(&one);
            seen.push(head);
        }
    }
}

fn plugin_section(out: &mut String, dice: &mut Dice, plugin: &str) {
    writeln!(out, "[plugins.{plugin}]").unwrap();
    if dice.chance(40) {
        writeln!(out, "sandbox_image = \"registry/pause:{}\"", dice.below(9)).unwrap();
    }
    if dice.chance(30) {
        writeln!(out, "enable_cdi = {}", dice.pick(&["true", "false"])).unwrap();
    }
    if dice.chance(3) {
        writeln!(out, "systemd_cgroup = true").unwrap();
    }
    if dice.chance(15) {
        writeln!(out, "cdi_spec_dirs = [\"/etc/cdi{}\"]", dice.below(3)).unwrap();
    }
    if dice.chance(4) {
        writeln!(
            out,
            "{}",
            dice.pick(&[
                "enable_selinux = \"no\"",
                "max_concurrent_downloads = \"3\"",
                "sandbox_image = 3"
            ])
        )
        .unwrap();
    }
    if dice.chance(35) {
        writeln!(out, "[plugins.{plugin}.cni]").unwrap();
        if dice.chance(60) {
            writeln!(out, "bin_dir = \"/opt/cni{}/bin\"", dice.below(3)).unwrap();
        }
        if dice.chance(8) {
            writeln!(out, "bin_dirs = [\"/opt/a{}\", \"/opt/b\"]", dice.below(2)).unwrap();
        }
        if dice.chance(60) {
            writeln!(out, "conf_dir = \"/etc/cni{}/net.d\"", dice.below(3)).unwrap();
        }
    }
    if dice.chance(70) {
        containerd_part(out, dice, plugin);
    }
    if dice.chance(25) {
        writeln!(
            out,
            "[plugins.{plugin}.registry]\nconfig_path = \"/etc/certs{}.d\"",
            dice.below(3)
        )
        .unwrap();
    }
    if dice.chance(10) {
        writeln!(
            out,
            "[plugins.{plugin}.registry.mirrors.\"docker.io\"]\nendpoint = [\"https://m{}\"]",
            dice.below(3)
        )
        .unwrap();
    }
}

const PLUGINS: [&str; 4] = [
    "\"io.containerd.grpc.v1.cri\"",
    "cri",
    "\"io.containerd.cri.v1.runtime\"",
    "'io.containerd.cri.v1.images'",
];

fn header(dice: &mut Dice, version: u64) -> String {
    let mut out = String::new();
    if version > 0 {
        writeln!(out, "version = {version}").unwrap();
    }
    if dice.chance(20) {
        let id = match (version, dice.below(20)) {
            (_, 0) | (0 | 1, _) => dice.pick(&["cri", "opt", "restart"]),
            _ => dice.pick(&[
                "io.containerd.internal.v1.opt",
                "io.containerd.grpc.v1.cri",
                "io.containerd.snapshotter.v1.zfs",
            ]),
        };
        writeln!(out, "disabled_plugins = [\"{id}\"]").unwrap();
    }
    if dice.chance(10) {
        writeln!(out, "root = \"/var/lib/c{}\"", dice.below(4)).unwrap();
    }
    if dice.chance(2) {
        writeln!(
            out,
            "{}",
            dice.pick(&[
                "oom_score = \"0\"",
                "disabled_plugins = \"cri\"",
                "version = \"2\"",
                "state = 3"
            ])
        )
        .unwrap();
    }
    out
}

/// One file. `wanted` is the schema the tree is mostly written in.
fn file(dice: &mut Dice, wanted: u64, imports: &[String]) -> String {
    let version = if dice.chance(85) {
        wanted
    } else {
        dice.below(5)
    };
    let mut out = header(dice, version);
    if !imports.is_empty() {
        let list: Vec<String> = imports.iter().map(|path| format!("\"{path}\"")).collect();
        writeln!(out, "imports = [{}]", list.join(", ")).unwrap();
    }
    if dice.chance(20) {
        writeln!(
            out,
            "[grpc]\naddress = \"/run/c{}.sock\"\nuid = {}",
            dice.below(3),
            dice.below(2)
        )
        .unwrap();
    }
    for plugin in PLUGINS {
        let usual = match plugin {
            "cri" => version <= 1,
            other if other.contains("grpc") => version == 2,
            _ => version >= 3,
        };
        if dice.chance(if usual { 75 } else { 4 }) {
            plugin_section(&mut out, dice, plugin);
        }
    }
    if dice.chance(2) {
        out.push_str(dice.pick(&["x = \n", "[a\n", "version = 2\nversion = 3\n", "= 1\n"]));
    }
    out
}

/// Writes a tree of files below a folder and returns the root file's path.
pub(crate) fn write_tree(dice: &mut Dice, dir: &Path, into: &mut MapTree) -> String {
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let wanted = [0, 1, 2, 2, 2, 3, 3][usize::try_from(dice.below(7)).unwrap()];
    let mut imports = Vec::new();
    if dice.chance(60) {
        imports.push(at("conf.d/*.toml"));
    }
    if dice.chance(20) {
        imports.push("extra.toml".to_owned());
    }
    if dice.chance(10) {
        imports.push("conf.d/../root.toml".to_owned());
    }
    if dice.chance(5) {
        imports.push("rel.d/[0-9]*.toml".to_owned());
    }
    if dice.chance(3) {
        imports.push("missing.toml".to_owned());
    }
    let mut files = vec![("root.toml".to_owned(), imports)];
    for n in 0..dice.below(4) {
        let nested = if dice.chance(15) {
            vec!["../extra.toml".to_owned()]
        } else {
            Vec::new()
        };
        files.push((format!("conf.d/{}{n}-x.toml", dice.below(9)), nested));
    }
    files.push((
        "extra.toml".to_owned(),
        if dice.chance(30) {
            vec!["./root.toml".to_owned()]
        } else {
            Vec::new()
        },
    ));
    files.push(("rel.d/10-a.toml".to_owned(), Vec::new()));
    files.push(("rel.d/b.toml".to_owned(), Vec::new()));
    for (name, imports) in files {
        let text = file(dice, wanted, &imports);
        let path = dir.join(&name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
        into.add(path.to_str().unwrap(), &name, &text);
    }
    at("root.toml")
}
