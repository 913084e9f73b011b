//! The vocabulary: what components say, by who says it, apart from what causes it.
//!
//! One YAML file a component under `messages/`. A rule names a message as `component/id`; messages of other natures
//! tell that a line is a mere note, or that something else has ended.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;

use super::compile::{RuleError, Trust, regex};
use super::position::locate;
pub use crate::dress::{Ending, Nature};
use crate::parsers::Channel;
use crate::scan::literals;
use crate::scan::patterns::{Expression, LinePattern};
use crate::shipped;

/// A file of the vocabulary.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageFile {
    /// Component; equal to the file's stem.
    pub component: String,
    /// Expression for the unit, identifier or pod that speaks as this component.
    pub speaker: String,
    /// Channels it speaks in; all where none is given.
    #[serde(default, rename = "in")]
    pub channels: Vec<Channel>,
    /// Its messages.
    pub messages: Vec<Message>,
}

/// One message.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Name within the component.
    pub id: String,
    /// Expression over the message.
    pub line: String,
    /// Channels of this message, where they are others than the component's.
    #[serde(default, rename = "in")]
    pub channels: Vec<Channel>,
    /// What it is.
    pub nature: Nature,
    /// What a recovery ends.
    #[serde(default)]
    pub ends: Option<Ending>,
    /// Lines that it is known by, with their dress.
    pub examples: Vec<String>,
    /// The component's source that says it.
    pub source: String,
}

impl Vocabulary {
    /// Recoveries that end nothing that a rule names under `ended_by`.
    pub(super) fn idle<'a>(
        &'a self,
        ended_by: &'a [Ending],
    ) -> impl Iterator<Item = RuleError> + 'a {
        self.messages.iter().filter_map(|(key, (file, message))| {
            let ending = message.ends.filter(|ending| !ended_by.contains(ending))?;
            let name = format!("{}.yaml", file.component);
            let files = shipped::catalogue().1;
            let text = files.iter().find(|known| known.0 == name);
            let text = text.map_or("", |known| known.1);
            Some(RuleError {
                file: format!("messages/{name}"),
                at: Some(locate(text, &["messages"], &message.id)),
                what: format!(
                    "message {key}: no rule names {ending:?} under ended_by, so its recovery ends no fault; name it there or take the message out"
                ),
            })
        })
    }
}

/// The compiled vocabulary.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    messages: BTreeMap<String, (MessageFile, Message)>,
    /// What the patterns of recoveries end, by index of the pattern.
    pub endings: BTreeMap<usize, Ending>,
}

impl Vocabulary {
    /// Reads the shipped files, and adds the patterns of all messages that no rule has to name.
    pub fn load(patterns: &mut Vec<LinePattern>) -> Result<Self, RuleError> {
        Self::read(patterns, Trust::Shipped)
    }

    /// What is wrong with the shipped vocabulary; nothing where its tests hold.
    pub fn fault() -> Option<RuleError> {
        Self::read(&mut Vec::new(), Trust::Foreign).err()
    }

    fn read(patterns: &mut Vec<LinePattern>, trust: Trust) -> Result<Self, RuleError> {
        let mut known = Self::default();
        for (name, text, json, _) in shipped::catalogue().1 {
            known.add(name, (text, json), trust)?;
        }
        for (file, message) in known.messages.values() {
            if !message.nature.is_note() && message.ends.is_none() {
                continue;
            }
            patterns.push(pattern(file, message));
            if let Some(ending) = message.ends {
                known.endings.insert(patterns.len() - 1, ending);
            }
        }
        Ok(known)
    }

    /// The pattern of a message that a rule names as `component/id`.
    pub fn pattern(&self, name: &str) -> Result<LinePattern, String> {
        let Some((file, message)) = self.messages.get(name) else {
            let component = name.split('/').next().unwrap_or("");
            let near = self
                .messages
                .keys()
                .filter(|one| one.split('/').next() == Some(component));
            let near: Vec<&str> = near.map(String::as_str).collect();
            return Err(format!(
                "unknown message {name:?}; known of that component: {}; components have a file under messages/ and are built into the program",
                near.join(", ")
            ));
        };
        Ok(pattern(file, message))
    }

    fn add(
        &mut self,
        name: &str,
        (text, json): (&str, &str),
        trust: Trust,
    ) -> Result<(), RuleError> {
        let fail = |id: &str, what: String| RuleError {
            file: format!("messages/{name}"),
            at: Some(locate(text, &["messages"], id)),
            what,
        };
        let file: MessageFile = match serde_json::from_str(json) {
            Ok(file) => file,
            Err(_) => serde_saphyr::from_str(text).map_err(|error| fail("", error.to_string()))?,
        };
        if name.trim_end_matches(".yaml") != file.component {
            let what = format!("component {:?} must be the file's name", file.component);
            return Err(fail("", what));
        }
        if file.speaker.trim().is_empty() {
            let what = "speaker is empty: give an expression for the unit, identifier or pod that says these messages";
            return Err(fail("speaker", what.to_owned()));
        }
        let mut before: Vec<(&Message, Regex)> = Vec::new();
        for message in &file.messages {
            if trust == Trust::Foreign {
                let expression = check(message).map_err(|what| fail(&message.id, what))?;
                if let Some(text) = unreachable(&file, message) {
                    let what = format!(
                        "message {}: no channel reaches the alternative with {text:?}, which stands in lines of every healthy node; \
                         give it a longer or a rarer text",
                        message.id
                    );
                    return Err(fail(&message.id, what));
                }
                if let Some(other) = same_line(&before, message, &expression) {
                    let what = format!(
                        "messages {other} and {} match the same line; make the expression of one narrower",
                        message.id
                    );
                    return Err(fail(&message.id, what));
                }
                before.push((message, expression));
            }
            let key = format!("{}/{}", file.component, message.id);
            if self.messages.contains_key(&key) {
                return Err(fail(
                    &message.id,
                    format!("message {key} is there twice; give the second another id"),
                ));
            }
            self.messages.insert(key, (file.clone(), message.clone()));
        }
        Ok(())
    }
}

/// An earlier message that matches an example of this one, or the other way round.
fn same_line<'a>(
    before: &[(&'a Message, Regex)],
    message: &Message,
    expression: &Regex,
) -> Option<&'a str> {
    let said = |example: &'_ String| -> String {
        example[crate::dress::undress(example).outer..].to_owned()
    };
    let both = before.iter().find(|(other, theirs)| {
        let mut own = message.examples.iter().map(said);
        let mut others = other.examples.iter().map(said);
        own.any(|line| theirs.is_match(&line)) || others.any(|line| expression.is_match(&line))
    });
    both.map(|(other, _)| other.id.as_str())
}

/// A text of a message that is said in logs alone and that stands in lines of every healthy node: there nothing is tried
/// because of it.
fn unreachable(file: &MessageFile, message: &Message) -> Option<String> {
    let channels = match message.channels.is_empty() {
        true => &file.channels,
        false => &message.channels,
    };
    let logs = [Channel::Kernel, Channel::Journal, Channel::PodLog];
    let only_logs = !channels.is_empty() && channels.iter().all(|one| logs.contains(one));
    let texts = literals::required(&message.line).filter(|_| only_logs)?;
    texts
        .into_iter()
        .find(|text| literals::is_everyday_text(text))
}

/// What is wrong with a message by itself; its expression where nothing is.
fn check(message: &Message) -> Result<Regex, String> {
    let id = &message.id;
    let expression = regex(&message.line).map_err(|what| format!("message {id}: {what}"))?;
    if literals::required(&message.line).is_none() {
        return Err(format!(
            "message {id}: no text of {} or more characters that every line of it contains; add one",
            literals::MIN_LITERAL
        ));
    }
    if (message.nature == Nature::Recovery) != message.ends.is_some() {
        return Err(format!(
            "message {id}: a recovery names under ends what it ends, and only a recovery does"
        ));
    }
    if message.examples.is_empty() {
        return Err(format!(
            "message {id}: give an example, a line with its dress"
        ));
    }
    for example in &message.examples {
        let dress = crate::dress::undress(example);
        if !expression.is_match(&example[dress.outer..]) {
            return Err(format!(
                "message {id}: the expression does not match its example {example:?}"
            ));
        }
    }
    Ok(expression)
}

fn pattern(file: &MessageFile, message: &Message) -> LinePattern {
    LinePattern {
        regex: Expression::new(&message.line),
        channels: if message.channels.is_empty() {
            file.channels.clone()
        } else {
            message.channels.clone()
        },
        speaker: Some(Expression::new(&file.speaker)),
        nature: Some(message.nature),
    }
}

#[cfg(test)]
mod dresses;
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_vocabulary_is_sound_and_no_line_is_two_messages_of_one_component() {
        let known = Vocabulary::read(&mut Vec::new(), Trust::Foreign).unwrap();
        for (key, (file, message)) in &known.messages {
            for example in &message.examples {
                let dress = crate::dress::undress(example);
                if !dress.speaker.is_empty() {
                    assert!(
                        regex(&file.speaker).unwrap().is_match(dress.speaker),
                        "{key}: {example}"
                    );
                }
                for (other, (_, second)) in &known.messages {
                    let same =
                        second.id != message.id && other.split('/').next() == key.split('/').next();
                    let matches = || {
                        regex(&second.line)
                            .unwrap()
                            .is_match(&example[dress.outer..])
                    };
                    assert!(
                        !(same && matches()),
                        "{key} and {other} both match {example}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_recovery_that_ends_nothing_is_named_with_its_line() {
        let known = Vocabulary::load(&mut Vec::new()).unwrap();
        let said: Vec<String> = known.idle(&[]).map(|error| error.to_string()).collect();
        assert!(!said.is_empty());
        let placed = regex(r"^messages/[\w-]+\.yaml:\d+:\d+: message .* no rule names").unwrap();
        assert!(said.iter().all(|one| placed.is_match(one)), "{said:?}");
        assert!(Vocabulary::fault().is_none());
    }

    fn refused(text: &str) -> String {
        Vocabulary::default()
            .add("x.yaml", (text, ""), Trust::Foreign)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_message_that_could_not_work_is_refused_with_its_place_and_the_mend() {
        let file = |rest: &str| {
            format!("component: x\nspeaker: '^x$'\nmessages:\n  - id: a\n    source: s\n{rest}")
        };
        let said = refused(&file(
            "    line: 'ready now'\n    nature: recovery\n    examples: ['ready now']\n",
        ));
        assert!(
            said.starts_with("messages/x.yaml:3:") && said.contains("names under ends"),
            "{said}"
        );
        let said = refused(&file(
            "    line: 'ready now'\n    nature: fault\n    examples: ['other']\n",
        ));
        assert!(said.contains("does not match its example"), "{said}");
        let said = refused(&file(
            "    line: 'ready now'\n    nature: fault\n    examples: ['ready now']\n  - id: b\n    source: s\n    line: 'not ready now|ready now'\n    nature: fault\n    examples: ['not ready now']\n",
        ));
        assert!(
            said.starts_with("messages/x.yaml:10:") || said.contains("match the same line"),
            "{said}"
        );
        let said = refused("component: y\nspeaker: x\nmessages: []\n");
        assert!(said.contains("must be the file's name"), "{said}");
        let unnamed = refused("component: x\nmessages: []\n");
        assert!(unnamed.contains("speaker"), "{unnamed}");
        let nobody = refused("component: x\nspeaker: ''\nmessages: []\n");
        assert!(
            nobody.contains("give an expression for the unit"),
            "{nobody}"
        );
        let everyday = refused(
            "component: x\nspeaker: x\nin: [journal]\nmessages:\n  - id: a\n    source: s\n    line: 'sick kettle|not found'\n    nature: fault\n    examples: ['sick kettle']\n",
        );
        assert!(
            everyday.starts_with("messages/x.yaml:")
                && everyday.contains("give it a longer or a rarer text"),
            "{everyday}"
        );
    }
}
