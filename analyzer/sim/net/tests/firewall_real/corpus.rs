//! Rule sets that others wrote, from a folder: `FW_CORPUS` names it, `*.nft` are nft's, everything else iptables-save's.
//! `FW_CORPUS_HALF` is `even` or `odd`: every second file of the sorted list, so that one half stays unseen.
//! `FW_CORPUS_REPORT` names a file that takes one line for each packet that differs or is undecided.
//!
//! Beside the usual packets each set gets some to the ports that it names, and the ipsets that it names exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use casefile_sim_net::packet::CtState;

use super::lab::{Lab, Texts, missing};
use super::shot::{OUT_IP, OUT_SIDE, Router, Shot};
use super::{KNOWN, Score, check};

/// Tracking stays on, and the sets of one file never meet those of another.
pub(crate) const EMPTY: &str = "nft flush ruleset; nft 'add table inet keep; add chain inet keep c { type filter hook input priority 500; }; \
     add rule inet keep c ct state new counter'; true";

/// The most ports of a rule set that get packets of their own.
const PORTS: usize = 5;

#[test]
fn rule_sets_of_a_folder_do_what_the_kernel_does_with_them() {
    let mut out = std::io::stderr();
    let Some(folder) = std::env::var_os("FW_CORPUS") else {
        let _ = writeln!(out, "skipped: FW_CORPUS names no folder of rule sets");
        return;
    };
    if let Some(why) = missing() {
        let _ = writeln!(out, "skipped: {why}");
        return;
    }
    let mut lab = Lab::new("corpus", false);
    lab.establish(KNOWN.0, KNOWN.1);
    // Rules send packets to addresses of their own.
    let _ = lab.router(&format!(
        "ip route replace default via {OUT_IP} dev {OUT_SIDE}"
    ));
    let mut score = Score {
        record: super::record::Recorder::named(),
        ..Score::default()
    };
    for path in half(files(Path::new(&folder))) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let name = path.display().to_string();
        let more = ports(&text).into_iter().flat_map(shots).enumerate();
        let unused = |(at, mut shot): (usize, Shot)| {
            // What an earlier set made of a connection stays with it.
            let next = (score.packets + at) % 20_000;
            shot.sport = 40_000 + u16::try_from(next).unwrap_or_default();
            shot
        };
        score.more = more.map(unused).collect();
        let rules = if name.ends_with(".nft") {
            Texts {
                nft: text,
                ..Texts::default()
            }
        } else {
            Texts {
                ipset: sets(&text),
                ..super::iptables(&declared(&text))
            }
        };
        let _ = lab.router(EMPTY);
        check(&mut lab, &name, &rules, &mut score);
    }
    tell(&mut out, &score);
    assert!(
        score.differences.is_empty(),
        "{} differ",
        score.differences.len()
    );
}

/// What a difference is, as far as its first words tell.
pub(crate) fn class(difference: &str) -> &'static str {
    let why = difference.split("}: ").nth(1).unwrap_or(difference);
    match why.split([' ', ':']).next() {
        Some("undecided") => "undecided",
        Some("expected") => "wrong verdict",
        _ => "wrong rule on the way",
    }
}

pub(crate) fn tell(out: &mut impl Write, score: &Score) {
    let refused = score.refused.len();
    let _ = writeln!(out, "{score}, {refused} sets refused by the kernel");
    for (count, (says, _)) in score.explained.iter().zip(super::EXPLAINED) {
        let _ = writeln!(out, "  {count} explained: {says}");
    }
    let mut classes: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for difference in &score.differences {
        let (count, sets) = classes.entry(class(difference)).or_default();
        *count += 1;
        sets.insert(difference.split(": Shot").next().unwrap_or_default());
    }
    for (class, (count, sets)) in &classes {
        let _ = writeln!(out, "  {count} {class}, in {} sets", sets.len());
    }
    for difference in score.differences.iter().take(20) {
        let shown: String = difference.chars().take(1500).collect();
        let _ = writeln!(out, "{shown}\n");
    }
    if let Ok(path) = std::env::var("FW_CORPUS_REPORT") {
        let all = score.differences.iter().chain(&score.refused);
        let text = all.fold(String::new(), |mut text, difference| {
            let mut lines = difference.lines();
            let first = lines.next().unwrap_or_default();
            let second: String = lines
                .next()
                .unwrap_or_default()
                .chars()
                .take(4000)
                .collect();
            let _ = writeln!(text, "{}: {first}\n    {second}", class(difference));
            text
        });
        let _ = std::fs::write(path, text);
    }
}

/// The ports that a rule set names as destinations, without those that get packets anyway.
fn ports(text: &str) -> Vec<u16> {
    let usual = [53, 123, 443, 8080, 8472, 22, 10_250];
    let mut found = BTreeSet::new();
    for after in text.split("dport").skip(1) {
        let value = after.trim_start_matches(['s', ' ', '{', '=', '!']);
        let number: String = value.chars().take_while(char::is_ascii_digit).collect();
        if let Ok(port) = number.parse::<u16>()
            && !usual.contains(&port)
        {
            found.insert(port);
        }
    }
    found.into_iter().take(PORTS).collect()
}

/// A packet of each protocol to a port behind the router, and one to the router itself.
fn shots(dport: u16) -> Vec<Shot> {
    let shot = |from_pod, to_router, proto| Shot {
        six: false,
        to_router,
        router: Router::Plain,
        from_pod,
        proto,
        sport: 40_000,
        dport,
        flags: if proto == 6 { 0x02 } else { 0 },
        state: CtState::New,
    };
    vec![
        shot(false, false, 6),
        shot(false, false, 17),
        shot(true, false, 6),
        shot(true, true, 17),
    ]
}

/// The text with every chain that its tables have: the nft kind of iptables makes no chain that a text does not name,
/// and its listing shows such a chain with a policy that nothing counts.
fn declared(text: &str) -> String {
    let of = |table: &str| -> &[&str] {
        match table {
            "*filter" => &["INPUT", "FORWARD", "OUTPUT"],
            "*nat" => &["PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"],
            "*mangle" => &["PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"],
            "*raw" => &["PREROUTING", "OUTPUT"],
            _ => &[],
        }
    };
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let _ = writeln!(out, "{line}");
        let mut missing: BTreeSet<&str> = of(line.trim()).iter().copied().collect();
        while let Some(chain) = lines.peek().filter(|next| next.starts_with([':', '#'])) {
            let name = chain.trim_start_matches(':').split(' ').next();
            missing.remove(name.unwrap_or_default());
            let _ = writeln!(out, "{chain}");
            lines.next();
        }
        for chain in missing {
            let _ = writeln!(out, ":{chain} ACCEPT [0:0]");
        }
    }
    out
}

/// The ipsets that iptables rules name, of the shape that the rules ask for, with the lab's own addresses in some.
fn sets(text: &str) -> String {
    let mut made = BTreeMap::new();
    for after in text.split("--match-set ").skip(1) {
        let mut words = after.split_whitespace();
        let (Some(name), Some(flags)) = (words.next(), words.next()) else {
            continue;
        };
        made.entry(name.trim_matches('"').to_owned())
            .or_insert_with(|| flags.split(',').count());
    }
    let mut script = String::new();
    for (at, (name, dimensions)) in made.iter().enumerate() {
        let (kind, member) = match dimensions {
            1 => ("hash:net", "10.1.0.0/16"),
            2 => ("hash:ip,port", "192.0.2.53,udp:53"),
            _ => ("hash:ip,port,ip", "192.0.2.53,udp:53,10.1.0.185"),
        };
        let _ = writeln!(script, "create {name} {kind} family inet");
        if at % 2 == 0 {
            let _ = writeln!(script, "add {name} {member}");
        }
    }
    script
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = read.map(|file| file.path()).collect();
    files.sort();
    files
}

fn half(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let wanted = match std::env::var("FW_CORPUS_HALF").as_deref() {
        Ok("even") => Some(0),
        Ok("odd") => Some(1),
        _ => None,
    };
    let all = files.into_iter().enumerate();
    let kept = all.filter(|(index, _)| wanted.is_none_or(|wanted| index % 2 == wanted));
    kept.map(|(_, file)| file).collect()
}
