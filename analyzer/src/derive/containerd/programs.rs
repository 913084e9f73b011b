//! The programs behind handlers: whether they are there and can be started on this node.

use super::checks::word;
use super::{Resolved, of_place};
use crate::containerd::Answer;
use crate::containerd::instances::Instance;
use crate::derive::Known;
use crate::facts::runtime_parts::{HandlerProgram, HostProgram};
use crate::facts::{AnyFact, Fact};
use crate::runtimes::programs::{self, Program, Startable, compare, is_named};

/// The node's programs and its glibc.
pub(in crate::derive) struct Programs<'a> {
    all: Vec<&'a Fact<HostProgram>>,
    glibc: Option<String>,
}

impl<'a> Programs<'a> {
    pub(in crate::derive) fn of(known: &Known<'a>, node: &str) -> Self {
        let table = known.facts.table::<HostProgram>().iter();
        let all: Vec<_> = table.filter(|fact| fact.data.node == node).collect();
        let versions = all
            .iter()
            .filter_map(|fact| fact.data.provides_glibc.clone());
        let glibc = versions.reduce(|newest, one| {
            let newer = compare(&one, &newest).is_some_and(std::cmp::Ordering::is_gt);
            if newer { one } else { newest }
        });
        Self { all, glibc }
    }

    /// The program of a path or name; `None` where nobody looked.
    pub(in crate::derive) fn find(&self, asked: &str) -> Option<&'a Fact<HostProgram>> {
        let mut hits = self
            .all
            .iter()
            .filter(|fact| is_named(&fact.data.path, asked));
        hits.next().copied()
    }

    /// Whether a program exists and whether it is executable.
    pub(in crate::derive) fn known(&self, path: &str) -> (Answer, Answer) {
        let answer = |yes: bool| if yes { Answer::Yes } else { Answer::No };
        let Some(fact) = self.find(path) else {
            return (Answer::Unknown, Answer::Unknown);
        };
        let executable = fact.data.executable.map_or(Answer::Unknown, answer);
        (answer(fact.data.exists), executable)
    }

    pub(in crate::derive) fn check(&self, data: &HostProgram) -> Startable {
        let program = Program {
            path: data.path.clone(),
            exists: data.exists,
            executable: data.executable,
            interpreter: data.interpreter.clone(),
            interpreter_exists: data.interpreter_exists,
            needs_glibc: data.needs_glibc.clone(),
        };
        programs::check(&program, self.glibc.as_deref())
    }
}

/// Whose handler it is.
pub(in crate::derive) struct Whose<'a> {
    pub(in crate::derive) node: &'a str,
    pub(in crate::derive) instance: &'a str,
    pub(in crate::derive) used: &'a str,
    pub(in crate::derive) handler: &'a str,
}

/// The fact about a handler's program; `None` where nobody looked at it.
pub(in crate::derive) fn fact(
    programs: &Programs<'_>,
    whose: &Whose<'_>,
    program: &str,
) -> Option<AnyFact> {
    let found = programs.find(program)?;
    let startable = programs.check(&found.data);
    let data = HandlerProgram {
        node: whose.node.to_owned(),
        instance: whose.instance.to_owned(),
        used_by_kubelet: whose.used.to_owned(),
        handler: whose.handler.to_owned(),
        program: found.data.path.clone(),
        starts: word(startable.starts).to_owned(),
        fault: startable.fault.to_owned(),
        because: startable.because,
    };
    let fact = Fact {
        data,
        place: found.place.clone(),
        text: found.text.clone(),
        at: None,
    };
    Some(fact.into())
}

/// The programs of an instance's handlers.
pub(super) fn facts(known: &Known<'_>, resolved: &Resolved, instance: &Instance) -> Vec<AnyFact> {
    let Some((_, cri)) = resolved.of(instance) else {
        return Vec::new();
    };
    let programs = Programs::of(known, &resolved.node);
    let mut facts = Vec::new();
    for handler in cri.handlers.values() {
        let named = handler.binary_name.value.as_str();
        if named.is_empty() {
            continue;
        }
        let whose = Whose {
            node: &resolved.node,
            instance: &instance.id,
            used: resolved.used(&instance.id),
            handler: &handler.name,
        };
        facts.extend(fact(&programs, &whose, named).or_else(|| {
            let (place, text) = of_place(known, handler.binary_name.place()?);
            let data = HandlerProgram {
                node: whose.node.to_owned(),
                instance: whose.instance.to_owned(),
                used_by_kubelet: whose.used.to_owned(),
                handler: whose.handler.to_owned(),
                program: named.to_owned(),
                starts: "unknown".to_owned(),
                fault: String::new(),
                because: format!("nobody looked at {named}"),
            };
            Some(
                Fact {
                    data,
                    place,
                    text: text.into(),
                    at: None,
                }
                .into(),
            )
        }));
    }
    facts
}

/// The toolkit's other programs that cannot be started: hooks and tools that a handler's program calls.
pub(super) fn toolkit(known: &Known<'_>, node: &str) -> Vec<AnyFact> {
    let programs = Programs::of(known, node);
    let ours = programs.all.iter().filter(|fact| {
        let name = fact.data.path.rsplit('/').next().unwrap_or_default();
        name.starts_with("nvidia-") && fact.data.exists
    });
    let broken = ours.filter(|fact| programs.check(&fact.data).starts == Answer::No);
    let whose = Whose {
        node,
        instance: "",
        used: "unknown",
        handler: "",
    };
    broken
        .filter_map(|one| fact(&programs, &whose, &one.data.path))
        .collect()
}
