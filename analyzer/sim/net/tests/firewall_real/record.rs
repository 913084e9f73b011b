//! What the kernel did, kept in a file, so that a changed evaluation is judged again without a kernel: a run over ten
//! thousand packets takes half an hour, judging them again takes seconds.
//!
//! `FW_CORPUS_RECORD=FILE` beside `FW_CORPUS` adds to the file; `FW_CORPUS_REPLAY=FILE` judges what it holds.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Write};

use casefile_sim_net::packet::{CtState, Packet};
use serde_json::{Value, json};

use super::lab::{Outcome, Texts};
use super::shot::{Router, Shot};
use super::{Score, judge};

/// Where observations go.
pub(crate) struct Recorder(BufWriter<File>);

impl Recorder {
    /// The file that the environment names, if any.
    pub(crate) fn named() -> Option<Recorder> {
        let path = std::env::var_os("FW_CORPUS_RECORD")?;
        let file = OpenOptions::new().append(true).create(true).open(path);
        Some(Recorder(BufWriter::new(file.expect("the record opens"))))
    }

    /// The rules that the packets after this line pass.
    pub(crate) fn rules(&mut self, name: &str, rules: &Texts, routes: &str) {
        self.line(&json!({ "set": name, "rules": written(rules), "routes": routes }));
    }

    /// A packet, when it came, what became of it, and the rules' counters behind it.
    pub(crate) fn packet(
        &mut self,
        shot: &Shot,
        (packet, id): (&Packet, u16),
        happened: Outcome,
        after: &Texts,
    ) {
        self.line(&json!({
            "shot": [
                u16::from(shot.to_router), u16::from(shot.from_pod), u16::from(shot.proto),
                shot.sport, shot.dport, u16::from(shot.flags), state_number(shot.state),
                router_number(shot.router),
            ],
            "at": packet.at,
            "id": id,
            "happened": outcome_number(happened),
            "after": written(after),
        }));
    }

    fn line(&mut self, value: &Value) {
        writeln!(self.0, "{value}").expect("the record takes a line");
    }
}

const STATES: [CtState; 5] = CtState::ALL;
const OUTCOMES: [Outcome; 3] = [Outcome::Arrived, Outcome::Refused, Outcome::Nothing];

fn state_number(state: CtState) -> u16 {
    let at = STATES.iter().position(|one| *one == state);
    u16::try_from(at.unwrap_or(0)).unwrap_or(0)
}

const ROUTERS: [Router; 3] = [Router::Plain, Router::Aside, Router::Sends];

fn router_number(router: Router) -> u16 {
    let at = ROUTERS.iter().position(|one| *one == router);
    u16::try_from(at.unwrap_or(0)).unwrap_or(0)
}

fn outcome_number(outcome: Outcome) -> usize {
    let at = OUTCOMES.iter().position(|one| *one == outcome);
    at.unwrap_or(0)
}

fn written(texts: &Texts) -> Value {
    json!([
        texts.six,
        texts.iptables,
        texts.legacy,
        texts.nft,
        texts.ipset,
        texts.listening
    ])
}

fn texts(value: &Value) -> Texts {
    let text = |at: usize| value[at].as_str().unwrap_or_default().to_owned();
    Texts {
        six: value[0].as_bool().unwrap_or(false),
        iptables: text(1),
        legacy: text(2),
        nft: text(3),
        ipset: text(4),
        listening: text(5),
    }
}

fn shot(value: &Value, six: bool) -> Shot {
    let number = |at: usize| u16::try_from(value[at].as_u64().unwrap_or(0)).unwrap_or(0);
    let byte = |at: usize| u8::try_from(number(at)).unwrap_or(0);
    Shot {
        six,
        to_router: number(0) == 1,
        router: ROUTERS[usize::from(number(7)) % ROUTERS.len()],
        from_pod: number(1) == 1,
        proto: byte(2),
        sport: number(3),
        dport: number(4),
        flags: byte(5),
        state: STATES[usize::from(number(6)) % STATES.len()],
    }
}

#[test]
fn packets_that_were_recorded_are_judged_as_the_kernel_did() {
    let mut out = std::io::stderr();
    let Some(path) = std::env::var_os("FW_CORPUS_REPLAY") else {
        let _ = writeln!(out, "skipped: FW_CORPUS_REPLAY names no record");
        return;
    };
    let file = File::open(path).expect("the record opens");
    let (mut score, mut name, mut routes) = (Score::default(), String::new(), String::new());
    let mut before = Texts::default();
    for line in BufReader::new(file).lines() {
        let line = line.expect("a line");
        let value: Value = serde_json::from_str(&line).expect("a record");
        if let Some(set) = value["set"].as_str() {
            name = set.to_owned();
            routes = value["routes"].as_str().unwrap_or_default().to_owned();
            before = texts(&value["rules"]);
            score.rule_sets += 1;
            continue;
        }
        let shot = shot(&value["shot"], before.six);
        let id = value["id"].as_u64().and_then(|id| u16::try_from(id).ok());
        let mut packet = shot.packet(id);
        packet.at = value["at"].as_i64();
        let outcome = value["happened"]
            .as_u64()
            .and_then(|at| usize::try_from(at).ok());
        let happened = OUTCOMES[outcome.unwrap_or(0) % OUTCOMES.len()];
        let after = texts(&value["after"]);
        let case = super::Case {
            name: &name,
            shot: &shot,
            packet: &packet,
            routes: &routes,
            before: &before,
            after: &after,
        };
        judge(&case, happened).count(&mut score);
        before = after;
    }
    super::corpus::tell(&mut out, &score);
    assert!(
        score.differences.is_empty(),
        "{} differ",
        score.differences.len()
    );
}
