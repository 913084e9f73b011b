//! Whether a handler name that a RuntimeClass gives resolves on an instance, and why.

use serde::Serialize;

use super::Answer;
use super::config::EffectiveConfig;
use super::handlers::Cri;
use super::problem::{ConfigProblem, Effect};
use super::value::FileLine;

/// Whether a handler name resolves on this instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HandlerCheck {
    /// The name asked for; empty asks for the default handler.
    pub handler: String,
    /// Whether a sandbox with this handler can be made, as far as the configuration decides it.
    pub resolves: Answer,
    /// One sentence with file and line.
    pub because: String,
    /// The line that decides; none where an absence decides.
    pub provenance: Option<FileLine>,
}

impl Cri {
    /// Whether a sandbox with this handler can be made; the empty name asks for the default handler.
    #[must_use]
    pub fn check(&self, config: &EffectiveConfig, name: &str) -> HandlerCheck {
        let asked = if name.is_empty() {
            self.default_runtime_name.value.as_str()
        } else {
            name
        };
        let answer = |resolves, because: String, provenance: Option<&FileLine>| HandlerCheck {
            handler: name.to_owned(),
            resolves,
            because,
            provenance: provenance.cloned(),
        };
        let stops = |problem: &&ConfigProblem| {
            matches!(
                problem.effect(),
                Effect::RefusesToStart | Effect::CriRefuses | Effect::CriDisabled
            )
        };
        if let Some(problem) = config.problems.iter().chain(&self.problems).find(stops) {
            let what = match problem.effect() {
                Effect::RefusesToStart => "containerd refuses to start",
                _ => "the CRI plugin does not run",
            };
            let at = problem
                .place()
                .map(|place| format!("{place}: "))
                .unwrap_or_default();
            return answer(
                Answer::No,
                format!("{what}: {at}{problem}"),
                problem.place(),
            );
        }
        match self.handlers.get(asked) {
            Some(found) if found.runtime_type.value.is_empty() => {
                let at = found
                    .place
                    .as_ref()
                    .map(FileLine::to_string)
                    .unwrap_or_default();
                answer(
                    Answer::No,
                    format!("handler {asked:?} at {at} has no runtime_type"),
                    found.place.as_ref(),
                )
            }
            Some(found) => {
                let at = found
                    .place
                    .as_ref()
                    .map_or("built into this release".to_owned(), |place| {
                        format!("defined at {place}")
                    });
                let kind = &found.runtime_type.value;
                answer(
                    Answer::Yes,
                    format!("handler {asked:?} is {at}, runtime_type {kind}"),
                    found.place.as_ref(),
                )
            }
            None if config.uncertain() => {
                let missing = config
                    .problems
                    .iter()
                    .find(|problem| problem.effect() == Effect::Uncertain);
                let why = missing.map(ToString::to_string).unwrap_or_default();
                answer(
                    Answer::Unknown,
                    format!("no captured file defines handler {asked:?}, but {why}"),
                    None,
                )
            }
            None => answer(
                Answer::No,
                self.absent(config, asked),
                self.runtimes_place.as_ref(),
            ),
        }
    }

    /// Why a handler that is not there is not there.
    fn absent(&self, config: &EffectiveConfig, name: &str) -> String {
        let files: Vec<&str> = config
            .files
            .iter()
            .map(|file| file.host_path.as_str())
            .collect();
        let defined: Vec<&str> = self.handlers.keys().map(String::as_str).collect();
        let wanted = format!("runtimes.{name}.");
        let lost = config
            .dropped
            .iter()
            .filter(|dropped| dropped.key.contains(&wanted));
        let lost = lost.min_by_key(|dropped| &dropped.setting.place);
        let read = if files.is_empty() {
            "no file".to_owned()
        } else {
            files.join(", ")
        };
        let mut out = format!(
            "no runtime handler {name:?} in {read}; defined: {}",
            defined.join(", ")
        );
        if let Some(lost) = lost {
            out = format!(
                "{out}; {} sets it, but {} ({})",
                lost.setting.place, lost.why, lost.by
            );
        }
        out
    }
}
