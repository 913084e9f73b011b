//! What a rule sees of the packet at a point of its way, and whether it matches.

use super::explore::Explorer;
use super::stage::{Stage, Tracking};
use super::way::Way;
use crate::condition::{Condition, ROUTED_BACK, Slot, Test, Tri, View, routed_back};
use crate::connection::Tracked;
use crate::iptables::Rule;
use crate::packet::{Direction, Interface};

/// Said where the hour decided.
const AT: &str = "the packet comes when the node was collected";

impl<'a> Explorer<'a> {
    /// Whether a rule matches, and what that depends on where it is not known.
    pub(super) fn answer(&mut self, way: &Way<'a>, rule: &'a Rule) -> (Tri, Option<String>) {
        let view = self.view(way);
        let mut answer = Tri::Yes;
        let mut doubtful = None;
        for condition in &rule.conditions {
            match self.answer_of(way, &view, rule, condition) {
                Tri::No => return (Tri::No, None),
                Tri::Maybe if answer == Tri::Yes => {
                    answer = Tri::Maybe;
                    doubtful = Some(condition);
                }
                _ => {}
            }
        }
        for condition in &rule.conditions {
            let assumption = match &condition.test {
                Test::Assumed { assumption, .. } => Some(assumption.as_str()),
                Test::Lookup(lookup) => lookup.assumption(),
                Test::RouteBack(asked) => {
                    let told = routed_back(&self.view(way), *asked);
                    told.is_none().then_some(ROUTED_BACK)
                }
                Test::Time(_) if answer == Tri::Yes => Some(AT),
                Test::Opaque { .. } if answer == Tri::Yes => Some(super::counted::ASSUMED),
                _ => None,
            };
            if let Some(assumption) = assumption.filter(|one| !self.assumptions.contains(*one)) {
                self.assumptions.insert(assumption.to_owned());
            }
        }
        (answer, doubtful.map(|condition| condition.doubt()))
    }

    fn answer_of(
        &self,
        way: &Way<'a>,
        view: &View<'_>,
        rule: &'a Rule,
        condition: &Condition,
    ) -> Tri {
        // Without a connection the match fails whatever it compares, unless it asks for a state beside that
        // (`net/netfilter/xt_conntrack.c`).
        if matches!(condition.test, Test::ConnMark { .. }) && view.tracked == Tracked::No {
            return Tri::No;
        }
        if condition.test.of_connection() && view.tracked == Tracked::No {
            let states = |one: &Condition| matches!(one.test, Test::States { .. });
            return Tri::of(rule.conditions.iter().any(states));
        }
        match condition.answer(view) {
            Tri::Maybe => self.counted(way, rule, condition).unwrap_or(Tri::Maybe),
            sure => sure,
        }
    }

    /// What rules see of the packet where the way has come to.
    pub(super) fn view<'b>(&'b self, way: &'b Way<'a>) -> View<'b> {
        let packet = &*way.packet;
        let hook = self.hook(way.stage, way.hook);
        let tracking = hook.map_or(Tracking::Behind, |hook| hook.tracking);
        View {
            packet,
            in_iface: slot(
                way.stage.sees_in() && packet.direction != Direction::Output,
                packet.in_iface.as_ref(),
            ),
            out_iface: slot(
                way.stage.sees_out() && packet.direction != Direction::Input,
                if way.stage == Stage::Output && !way.served {
                    self.leaves_by.as_ref()
                } else {
                    packet.out_iface.as_ref()
                },
            ),
            mark: way.mark,
            connmark: way.connmark.filter(|_| tracking != Tracking::Either),
            rewritten: way.rewritten,
            routes: self.rules().routes,
            rules: self.rules(),
            routed: !matches!(way.stage, Stage::Ingress | Stage::Prerouting),
            resourced: way.resourced == Some(true),
            fills: &way.fills,
            tracked: match (&packet.connection, tracking) {
                _ if way.untracked || self.loose => Tracked::No,
                (_, Tracking::Before) => Tracked::No,
                (Some(connection), Tracking::Behind) => Tracked::Yes(connection),
                _ => Tracked::Unknown,
            },
            states: match (way.untracked, tracking) {
                (true, _) => &self.untracked,
                (_, Tracking::Before) => &self.not_yet,
                (_, Tracking::Either) => &self.perhaps,
                (_, Tracking::Behind) => self.states,
            },
        }
    }
}

fn slot(exists: bool, interface: Option<&Interface>) -> Slot<'_> {
    match (exists, interface) {
        (false, _) => Slot::Absent,
        (true, None) => Slot::Unknown,
        (true, Some(interface)) => Slot::Known(interface),
    }
}
