//! A question to the captured firewall of a node: what happens to this packet?

mod ask;
mod beside;
#[cfg(test)]
mod tests;

pub use ask::{pod_interface, pod_to_dns, pod_to_tcp};

use std::collections::BTreeSet;

use super::condition::Test;
use super::eval::{Course, Evaluation, Rules, SourceNat, evaluate_all, source_nat};
use super::ipset::IpSets;
use super::iptables::{Backend, Rule, RuleSet, parse_save};
use super::ipvs::{self, VirtualServices};
use super::log_line::LoggedPacket;
use super::nft::{NftTable, Ruleset, parse_ruleset};
use super::packet::{CtState, Family, Packet};
use super::queue::Listeners;
use super::route::Routing;
use super::sockets::Listening;
use super::ufw::{Ufw, UfwFiles, UfwWords, assemble, from_rows};
use beside::{lost_marks, same_rules, shows};

/// A captured text with its path inside the bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapturedText<'a> {
    /// Path inside the bundle, as reports cite it.
    pub path: &'a str,
    /// The text.
    pub text: &'a str,
}

/// Everything a bundle may hold about the node's packet filter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Captures<'a> {
    /// `iptables-save`, of whatever backend is the host's default.
    pub iptables: Option<CapturedText<'a>>,
    /// `iptables-legacy-save`, where taken separately.
    pub iptables_legacy: Option<CapturedText<'a>>,
    /// `ip6tables-save`.
    pub ip6tables: Option<CapturedText<'a>>,
    /// `ip6tables-legacy-save`, where taken separately.
    pub ip6tables_legacy: Option<CapturedText<'a>>,
    /// `nft list ruleset`.
    pub nft: Option<CapturedText<'a>>,
    /// `ipset list` or `ipset save`.
    pub ipsets: Option<CapturedText<'a>>,
    /// `/proc/net/ip_vs`.
    pub ipvs: Option<CapturedText<'a>>,
    /// `net.ipv4.vs.conntrack`, where it is known.
    pub ipvs_tracks: Option<bool>,
    /// `/proc/net/netfilter/nfnetlink_queue`: the queues that programs listen at.
    pub queues: Option<CapturedText<'a>>,
    /// `ss -lntu`: the sockets that listen.
    pub listening: Option<CapturedText<'a>>,
    /// `ip route show table all`, IPv4 and IPv6.
    pub routes: [Option<CapturedText<'a>>; 2],
    /// `ip rule`, IPv4 and IPv6.
    pub policy_rules: [Option<CapturedText<'a>>; 2],
    /// `ufw status verbose`.
    pub ufw_status: Option<CapturedText<'a>>,
    /// ufw's files.
    pub ufw_files: UfwFiles<'a>,
}

/// The captured firewall of a node.
#[derive(Debug, Clone)]
pub struct Firewall {
    sets: Vec<RuleSet>,
    nft: Option<Ruleset>,
    routes: Option<Routing>,
    ipvs: Option<NftTable>,
    ipvs_tracks: Option<bool>,
    queues: Option<Listeners>,
    listening: Option<Listening>,
    ufw: Ufw,
}

/// An evaluation with what else is to be said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Verdict, decider, walk, assumptions and notes over all rule sets.
    pub evaluation: Evaluation,
    /// The decision in ufw's own words, where ufw decided.
    pub ufw: Option<UfwWords>,
    /// Tables on the packet's path that were not evaluated: `table inet firewalld`.
    pub not_evaluated: Vec<String>,
}

/// The answer for a packet that the kernel has logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedAnswer {
    /// What the captured rules do with the packet.
    pub answer: Answer,
    /// True when the packet meets a captured LOG rule with the line's prefix.
    /// False means that the rules were changed after the line was written, or
    /// that the rule which logged it was not captured.
    pub log_rule_found: bool,
    /// Connection states in which the packet meets that LOG rule.
    pub states: Vec<CtState>,
}

impl Captures<'_> {
    /// The node's routes, where they were captured.
    fn routing(&self) -> Option<Routing> {
        let mut routing = Routing::default();
        for routes in self.routes.iter().flatten() {
            routing.read_routes(*routes);
        }
        for rules in self.policy_rules.iter().flatten() {
            routing.read_rules(*rules);
        }
        (!routing.routes.is_empty()).then_some(routing)
    }
}

impl Firewall {
    /// Reads everything that was captured.
    pub fn from_captures(captures: &Captures<'_>) -> Firewall {
        let ufw = Ufw::new(captures.ufw_status, &captures.ufw_files);
        let saved = [
            (captures.iptables, Family::V4, None),
            (captures.iptables_legacy, Family::V4, Some(Backend::Legacy)),
            (captures.ip6tables, Family::V6, None),
            (captures.ip6tables_legacy, Family::V6, Some(Backend::Legacy)),
        ];
        let mut sets: Vec<RuleSet> = Vec::new();
        for (file, family, backend) in saved {
            let Some(file) = file else { continue };
            let mut set = parse_save(file.path, file.text, family);
            set.backend = backend.unwrap_or(set.backend);
            // The default program may be the legacy one: then both outputs show
            // the same rules, and only the second says whose they are.
            let same = sets.iter_mut().find(|known| {
                known.family == family && known.backend != Backend::Nft && same_rules(known, &set)
            });
            match same {
                Some(known) => known.backend = set.backend,
                None => sets.push(set),
            }
        }
        for family in [Family::V4, Family::V6] {
            let captured = sets.iter().any(|set| set.family == family);
            if !captured {
                sets.extend(from_ufw_files(&ufw, &captures.ufw_files, family));
            }
        }
        if let Some(listed) = captures.ipsets {
            let ipsets = IpSets::parse(listed);
            for set in &mut sets {
                ipsets.resolve(set);
            }
        }
        let nft = captures.nft.map(|file| parse_ruleset(file.path, file.text));
        Firewall {
            sets,
            nft,
            routes: captures.routing(),
            ipvs: captures
                .ipvs
                .map(|listed| ipvs::table(&VirtualServices::parse(listed))),
            ipvs_tracks: captures.ipvs_tracks,
            queues: captures.queues.map(Listeners::parse),
            listening: captures.listening.and_then(Listening::parse),
            ufw,
        }
    }

    /// What was captured of ufw.
    pub fn ufw(&self) -> &Ufw {
        &self.ufw
    }

    /// The node's routes, where they were captured.
    pub fn routes(&self) -> Option<&Routing> {
        self.routes.as_ref()
    }

    /// The rule sets, as read.
    pub fn rule_sets(&self) -> &[RuleSet] {
        &self.sets
    }

    /// What the captured rules do with the packet.
    pub fn evaluate(&self, packet: &Packet) -> Answer {
        let rules = self.rules(packet.family());
        if rules.saved.is_empty() && rules.nft.is_empty() {
            let family = packet.family();
            let mut evaluation =
                Evaluation::undecided(&format!("no {family} firewall rules were captured"));
            let not_evaluated = self.degrade(packet, &mut evaluation);
            return Answer {
                evaluation,
                ufw: None,
                not_evaluated,
            };
        }
        let mut evaluation = evaluate_all(&rules, packet);
        self.note_nft(packet, &mut evaluation);
        let decider = evaluation.decided_by.clone();
        let ufw = decider.as_ref().and_then(|decided| {
            let mut sets = rules.saved.iter();
            sets.find_map(|set| self.ufw.explain(decided, set, packet.direction))
        });
        for set in &rules.saved {
            self.remark(set, packet, &mut evaluation);
        }
        let mut not_evaluated = self.degrade(packet, &mut evaluation);
        not_evaluated.extend(self.leave_to_ipvs(&mut evaluation));
        Answer {
            evaluation,
            ufw,
            not_evaluated,
        }
    }

    /// What becomes of the source of a packet that leaves so, as [`Evaluation::leaves`] has it.
    pub fn source_of(&self, evaluation: &Evaluation) -> SourceNat {
        let unknown = |why: &str| SourceNat::Unknown {
            why: why.to_owned(),
        };
        let Some(packet) = evaluation.leaves.clone() else {
            return unknown("the packet's way is not known");
        };
        self.source_of_course(&Course {
            packet,
            mark: evaluation.mark,
            connmark: None,
            tracked: true,
        })
    }

    /// What becomes of the source of a packet that leaves on this course.
    pub fn source_of_course(&self, course: &Course) -> SourceNat {
        let unknown = |why: &str| SourceNat::Unknown {
            why: why.to_owned(),
        };
        let mut packet = course.packet.clone();
        packet.mark = course.mark;
        let rules = self.rules(packet.family());
        let written =
            |set: &&RuleSet| !matches!(set.backend, Backend::UfwFiles | Backend::UfwStatus);
        if rules.nft.is_empty() && !rules.saved.iter().any(written) {
            return unknown("no rules of the kernel were captured");
        }
        source_nat(&rules, &packet)
    }

    /// Everything that packets of a family have to pass.
    fn rules(&self, family: Family) -> Rules<'_> {
        let saved: Vec<&RuleSet> = self
            .sets
            .iter()
            .filter(|set| set.family == family && !self.replaced(set))
            .collect();
        let nft = self.tables().filter(|table| {
            let asked = table.is_routed() || table.family == "netdev";
            asked && table.sees(family) && !saved.iter().any(|set| shows(set, table))
        });
        Rules {
            nft: nft.collect(),
            saved,
            listed: self.tables().collect(),
            ipvs: self.ipvs.as_ref(),
            ipvs_tracks: self.ipvs_tracks,
            queues: self.queues.as_ref(),
            listening: self.listening.as_ref(),
            routes: self.routes.as_ref(),
        }
    }

    fn tables(&self) -> impl Iterator<Item = &NftTable> {
        self.nft.iter().flat_map(|ruleset| &ruleset.tables)
    }

    /// True for an output of iptables-save that leaves out conditions which nft shows.
    fn replaced(&self, set: &RuleSet) -> bool {
        self.tables()
            .any(|table| shows(set, table) && lost_marks(set, table))
    }

    /// Says what was not understood of nft's rules.
    fn note_nft(&self, packet: &Packet, evaluation: &mut Evaluation) {
        let Some(ruleset) = &self.nft else { return };
        let family = packet.family();
        if let Some(first) = ruleset.problems.first() {
            evaluation.notes.push(format!(
                "{} statement(s) of {} are not understood, the first at {}: {}",
                ruleset.unread, ruleset.path, first.origin, first.message
            ));
        }
        for set in self.sets.iter().filter(|set| set.family == family) {
            if self.replaced(set) {
                evaluation.notes.push(format!(
                    "{} leaves out conditions on the packet mark (an iptables older than the one that wrote the rules): {} is evaluated in its place",
                    set.path, ruleset.path
                ));
            }
        }
    }

    /// How many rules of the set hold a condition that nobody reads or no capture can answer, with the first of them.
    fn note_doubtful(set: &RuleSet, evaluation: &mut Evaluation) {
        let chains = set.tables.values().flat_map(|table| table.chains.values());
        let opaque = |rule: &&Rule| {
            let mut tests = rule.conditions.iter().map(|one| &one.test);
            tests.any(|test| matches!(test, Test::Opaque { .. }))
        };
        let doubtful = chains.flat_map(|chain| &chain.rules).filter(opaque);
        let (first, count) = doubtful.fold((None::<&Rule>, 0), |(first, count), rule| {
            let earlier = first.filter(|one| one.origin.line <= rule.origin.line);
            (earlier.or(Some(rule)), count + 1)
        });
        if let Some(first) = first {
            evaluation.notes.push(format!(
                "{count} rule(s) of {} hold a condition that cannot be evaluated, the first at {}: `{}`",
                set.path, first.origin, first.text
            ));
        }
    }

    /// Sentences about what the rule set cannot show.
    fn remark(&self, set: &RuleSet, packet: &Packet, evaluation: &mut Evaluation) {
        if evaluation.verdict.is_undecided() {
            Self::note_doubtful(set, evaluation);
        }
        if set.backend == Backend::UfwFiles {
            let sentence = "the rules come from ufw's files; rules of other programs were not captured and are taken as absent";
            evaluation.assumptions.push(sentence.to_owned());
        }
        if set.backend == Backend::UfwStatus {
            let sentence = "the rules come from ufw's status; its before and after rules are taken as shipped, rules of other programs as absent";
            evaluation.assumptions.push(sentence.to_owned());
        }
        let routed = self
            .ufw
            .status
            .as_ref()
            .and_then(|status| status.routed.as_deref());
        if packet.direction == super::packet::Direction::Forward && routed == Some("disabled") {
            evaluation.notes.push("ufw reports routing as disabled: the host does not forward packets at all (net.ipv4.ip_forward=0)".to_owned());
        }
    }

    /// What the captured rules do with a packet that the kernel has logged.
    ///
    /// The line does not show the connection state. Every state is tried; those
    /// in which the packet meets a LOG rule with the line's prefix are kept.
    pub fn evaluate_logged(&self, logged: &LoggedPacket) -> LoggedAnswer {
        let mut kept: Vec<(CtState, Answer)> = Vec::new();
        for state in CtState::ALL {
            let mut packet = logged.packet.clone();
            packet.ct_states = BTreeSet::from([state]);
            let answer = self.evaluate(&packet);
            if answer.evaluation.passes_log(&logged.prefix) {
                kept.push((state, answer));
            }
        }
        // An invalid or untracked packet must not hide what happens to a new one.
        let states = kept.iter().map(|(state, _)| *state).collect();
        let log_rule_found = !kept.is_empty();
        let answer = kept
            .into_iter()
            .next()
            .map(|(_, answer)| answer)
            .unwrap_or_else(|| {
                let mut packet = logged.packet.clone();
                packet.ct_states = BTreeSet::from([CtState::New]);
                self.evaluate(&packet)
            });
        LoggedAnswer {
            answer,
            log_rule_found,
            states,
        }
    }
}

/// The rule set of ufw's files; an empty one where ufw is known to be inactive.
fn from_ufw_files(ufw: &Ufw, files: &UfwFiles<'_>, family: Family) -> Option<RuleSet> {
    match ufw.active() {
        Some(false) => {
            let by_status = ufw
                .status
                .as_ref()
                .and_then(|status| status.active_origin.as_ref());
            let origin = by_status.or(ufw.enabled.as_ref().map(|setting| &setting.origin))?;
            Some(RuleSet::empty(family, Backend::UfwFiles, &origin.path))
        }
        _ => assemble(files, family).or_else(|| from_rows(ufw.status.as_ref()?, family)),
    }
}
