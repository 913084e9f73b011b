//! How the fix begins.

use std::collections::BTreeSet;

use super::super::blocks::{Rich, StepItem};
use super::super::{plan, words};
use super::{StatusRow, interrupts};
use crate::change::risk;
use crate::model::{Analysis, Incident, Verdict};

/// Characters of a command or a step that the screen shows.
const LONGEST: usize = 200;
/// Characters of a command that only looks and comes before it.
const SHORT_LOOK: usize = 110;

/// What comes first of a fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    /// A command that is the whole fix.
    Whole(String),
    /// A command that others follow.
    Command(String),
    /// Something that a person does by hand, before any command helps.
    ByHand(String),
}

/// The rows; none where nothing short can be said.
pub(super) fn rows(first: &Incident, analysis: &Analysis) -> Vec<StatusRow> {
    let row = |label, text| super::row(label, text);
    let host = |line: &str| host(first, analysis, line);
    let start = start(first).and_then(|start| match start.is_open() {
        // What has to be filled in first stands in the step; here its words suffice.
        true => in_words(first).map(Start::ByHand),
        false => Some(start),
    });
    let look = start.as_ref().and_then(|_| look_before(first, &host));
    let look = look.map(|text| row("Look first", text));
    let lead = lead(first, look.is_some());
    let at = |line: &str| elsewhere(first).unwrap_or_else(|| host(line));
    let start = start.map(|start| match start {
        Start::Whole(line) => row("Command", lead.join(at(&line)).code(line)),
        Start::Command(line) => row("Start with", lead.join(at(&line)).code(line)),
        Start::ByHand(text) => row("Start with", lead.join(Rich::prose(&text))),
    });
    let risk = interrupts::of(first).map(|risk| row("Interrupts", Rich::new().say(&risk)));
    look.into_iter().chain(start).chain(risk).collect()
}

/// What a person looks at before the first step that changes something: a screen that begins with step 2 hides a step.
fn look_before(first: &Incident, host: &dyn Fn(&str) -> Rich) -> Option<Rich> {
    let plan = plan::of(first);
    let Chosen::Step { number, .. } = chosen(&plan.steps) else {
        return None;
    };
    let before = plan.steps.get(..number - 1)?;
    let step = before.first().filter(|step| plan::only_looks(step))?;
    // A step that only a cluster can have may stand between.
    let looks = before.iter().take_while(|step| plan::only_looks(step));
    let text = match looks.count() {
        1 => Rich::from("Step 1, which changes nothing. "),
        2 => Rich::from("Steps 1 and 2, which change nothing. "),
        all => Rich::from(format!("Steps 1 to {all}, which change nothing. ")),
    };
    // Words of a look say less than their row takes room; what it stops is said below.
    let (line, _) = step.command.as_deref().and_then(line)?;
    let is_shown = line.chars().count() <= SHORT_LOOK && !is_open(&line);
    is_shown.then(|| text.join(host(&line)).code(line))
}

/// Which step it is, so that what it interrupts is found in the row below; and that a question comes before it.
fn lead(first: &Incident, looks: bool) -> Rich {
    let asked = first.verdict == Verdict::Likely && !first.would_settle.is_empty();
    let plan = plan::of(first);
    let number = match chosen(&plan.steps) {
        Chosen::Step { number, .. } if plan.steps.len() > 1 => Some(number),
        Chosen::Look if plan.steps.len() > 1 => Some(1),
        _ => None,
    };
    // Steps that only look and that no row shows are said to be there.
    let before = number.and_then(|number| plan.steps.get(..number - 1));
    let only_look =
        before.is_some_and(|before| !before.is_empty() && before.iter().all(plan::only_looks));
    Rich::from(match (asked, number) {
        (false, Some(number)) if only_look && !looks => {
            format!("Step {number}; those before it only look. ")
        }
        (true, Some(number)) => format!("Once it is settled, step {number}. "),
        (true, None) => "Once it is settled. ".to_owned(),
        (false, Some(number)) => format!("Step {number}. "),
        (false, None) => String::new(),
    })
}

/// Where the step itself says that it is done, such as "On a control-plane node, ...".
fn elsewhere(first: &Incident) -> Option<Rich> {
    const LONGEST_PLACE: usize = 40;
    let plan = plan::of(first);
    let Chosen::Step { step, .. } = chosen(&plan.steps) else {
        return None;
    };
    let text = step.text.plain();
    let (place, _) = text.split_once(", ")?;
    let is_place = place.starts_with("On a ") && place.len() <= LONGEST_PLACE;
    is_place.then(|| Rich::from(format!("{place}: ")))
}

/// Where a command is run that asks no cluster: typed at the desk, it would change the wrong machine.
fn host(first: &Incident, analysis: &Analysis, line: &str) -> Rich {
    // They are handed over with the report and have to be brought there.
    let has_files = line.contains("\"./");
    if ["kubectl ", "oc ", "helm "]
        .iter()
        .any(|name| line.starts_with(name))
    {
        return match has_files {
            true => Rich::from("In the folder fix: "),
            false => Rich::new(),
        };
    }
    let typed = plan::tried(first).filter(|_| !plan::is_in_words(first));
    let of_step = typed.and_then(|fix| fix.actions.first()?.node.as_deref());
    let mut nodes: BTreeSet<&str> = first
        .subjects
        .iter()
        .filter_map(|subject| subject.strip_prefix("node/"))
        .collect();
    if nodes.is_empty() {
        let failing = super::hit(analysis).into_iter();
        nodes.extend(failing.map(|one| one.node.as_str()));
    }
    let nodes: Vec<&str> = nodes.into_iter().filter(|name| !name.is_empty()).collect();
    let text = match (of_step, nodes.as_slice()) {
        (Some(node), _) | (None, &[node]) => Rich::from("On ").code(node),
        (None, _) => Rich::from("On the node"),
    };
    text.text(match has_files {
        true => ", in the folder fix, copied there: ",
        false => ": ",
    })
}

impl Start {
    /// Whether a person has to fill in something first, so that it cannot be typed as it is.
    fn is_open(&self) -> bool {
        let (Start::Whole(line) | Start::Command(line)) = self else {
            return false;
        };
        is_open(line)
    }

    /// The command, where it is one.
    pub(crate) fn command(&self) -> Option<&str> {
        match self {
            Start::Whole(line) | Start::Command(line) => Some(line),
            Start::ByHand(_) => None,
        }
    }
}

/// Whether a command has a blank such as `<pod>`; redirections and here-documents have no letter behind the sign.
fn is_open(line: &str) -> bool {
    line.split('<').skip(1).any(|rest| {
        rest.starts_with(|first: char| first.is_ascii_lowercase()) && rest.contains('>')
    })
}

/// Whether a command opens an object in an editor.
fn is_editor(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    matches!(program, "kubectl" | "oc")
        && words.next() == Some("edit")
        && !command.trim().contains('\n')
}

/// How the fix begins, where one line of a screen can say it.
pub(crate) fn start(first: &Incident) -> Option<Start> {
    if first.verdict > Verdict::Likely {
        return None;
    }
    let plan = plan::of(first);
    let (step, is_all) = match chosen(&plan.steps) {
        Chosen::Nothing => return None,
        Chosen::Look => {
            let (line, _) = line(plan.steps.first()?.command.as_deref()?)?;
            return Some(Start::Command(line));
        }
        Chosen::Step { step, is_all, .. } => (step, is_all),
    };
    let Some(command) = step.command.as_deref() else {
        return by_hand(step).map(Start::ByHand);
    };
    // What a person writes there stands in the words of the step.
    if let Some(text) = is_editor(command).then(|| by_hand(step)).flatten() {
        return Some(Start::ByHand(format!("`{}`: {text}", command.trim())));
    }
    Some(match line(command) {
        Some((line, true)) if is_all => Start::Whole(line),
        // One command of several is not yet the fix.
        Some((line, _)) => Start::Command(line),
        // A script of the tried fix makes all of its steps; what a person does stands in the report alone.
        None if plan::tried(first).is_some() && !plan::is_in_words(first) => {
            Start::ByHand(BY_SCRIPT.to_owned())
        }
        None => Start::ByHand(IN_STEPS.to_owned()),
    })
}

/// Which step of a plan comes first.
enum Chosen<'a> {
    /// None: no step changes anything.
    Nothing,
    /// The first one, which only looks: a person does all others.
    Look,
    /// The first that changes something.
    Step {
        /// Its number in the plan.
        number: usize,
        step: &'a StepItem,
        /// Whether no other step changes anything.
        is_all: bool,
    },
}

fn chosen(steps: &[StepItem]) -> Chosen<'_> {
    let all = (1..).zip(steps);
    let mut acting: Vec<(usize, &StepItem)> = all.filter(|(_, step)| acts(step)).collect();
    // What only a cluster answers is no start on a machine that shows none.
    let of_kubernetes =
        |(_, step): &(usize, &StepItem)| step.text.plain().starts_with(words::OF_KUBERNETES);
    if !acting.iter().all(of_kubernetes) {
        acting.retain(|step| !of_kubernetes(step));
    }
    let Some(&(number, step)) = acting.first() else {
        let in_words = steps.first().is_some_and(|step| step.command.is_none());
        return if in_words {
            Chosen::Look
        } else {
            Chosen::Nothing
        };
    };
    match acting.iter().all(|(_, step)| step.command.is_none()) {
        true => Chosen::Look,
        false => Chosen::Step {
            number,
            step,
            is_all: acting.len() == 1,
        },
    }
}

/// The step that comes first, without its command.
fn in_words(first: &Incident) -> Option<String> {
    let plan = plan::of(first);
    match chosen(&plan.steps) {
        Chosen::Nothing => None,
        Chosen::Look => by_hand(plan.steps.first()?),
        Chosen::Step { step, .. } => by_hand(step),
    }
}

/// What a step says, without where it is run and what it interrupts, where a screen has room for it.
fn by_hand(step: &StepItem) -> Option<String> {
    let text = step.text.plain();
    let text = text.split(risk::MARK).next().unwrap_or_default();
    let text = text.split(" Run it ").next().unwrap_or_default();
    (text.chars().count() <= LONGEST).then(|| words::sentence(text))
}

/// A command as one line, and whether that is all of it: a few lines are joined, of a longer script the first one that
/// changes something is shown where it says enough alone.
fn line(command: &str) -> Option<(String, bool)> {
    let lines = command.lines().map(str::trim);
    // What it saves first stands in the script; of a script one line says little.
    let lines: Vec<&str> = lines
        .filter(|line| !line.is_empty() && !line.starts_with("mkdir -p ./backup"))
        .collect();
    let is_alone = |line: &&str| {
        // What prepares a file, or deletes after a check, says too little or too much alone.
        let alone = !line.contains("--local") && !line.contains(" delete ");
        alone && !line.ends_with(['\\', '{']) && !line.starts_with("if ")
    };
    let is_plain = |line: &&str| is_alone(line) && !line.contains("<<") && !line.contains('#');
    let fits = |text: &str| text.chars().count() <= LONGEST;
    let joined = lines.join(" && ");
    if lines.len() > 1 && lines.iter().all(is_plain) && fits(&joined) {
        return Some((joined, true));
    }
    let first = lines.first().filter(|line| is_alone(line) && fits(line))?;
    Some(((*first).to_owned(), lines.len() == 1))
}

/// Whether a step changes something, by a command or by hand.
pub(super) fn acts(step: &StepItem) -> bool {
    !plan::only_looks(step)
}

/// How a fix begins whose commands are too long for a screen, where a script makes them.
const BY_SCRIPT: &str = "Run apply.sh in the folder that `casefile-analyzer fix` writes: it says where each step runs, and asks before it. Its commands are too long for this screen.";
/// Where commands stand that are too long for a screen.
const IN_STEPS: &str = "The first step of the report; its commands are too long for this screen.";
