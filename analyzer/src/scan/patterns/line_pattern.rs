//! The patterns of rules.

use casefile_shapes::expression::Expression;

use crate::dress::Nature;
use crate::parsers::Channel;

/// A pattern to look for in lines.
pub struct LinePattern {
    /// Expression, matched against the decoded text.
    pub regex: Expression,
    /// Channels it is looked for in; empty means everything that is said, which commands' output and
    /// files are not: what stands there is data, and is searched only by patterns that ask for it.
    pub channels: Vec<Channel>,
    /// What the message is, where it is one of the vocabulary.
    pub nature: Option<Nature>,
    /// Expression that the speaker (unit, identifier or pod) must match.
    pub speaker: Option<Expression>,
}

impl LinePattern {
    pub(super) fn searches(&self, channel: Channel) -> bool {
        match channel {
            // Text of unknown origin may be anything, so every pattern is tried on it.
            Channel::Text => true,
            Channel::Command | Channel::File => self.channels.contains(&channel),
            _ => self.channels.is_empty() || self.channels.contains(&channel),
        }
    }

    pub(super) fn applies(&self, channel: Channel, speaker: &str) -> bool {
        let here = self.searches(channel);
        let unknown = channel == Channel::Text || speaker.is_empty();
        here && (unknown
            || self
                .speaker
                .as_ref()
                .is_none_or(|regex| regex.is_match(speaker)))
    }
}
