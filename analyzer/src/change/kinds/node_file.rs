//! A file of a node that gets another text, without losing what the bundle does not hold of it.

use super::entry;
use super::patch::patch;
use crate::change::captured::{Altered, Captured};
use crate::change::shell::{Line, New, Script, Test, Word};
use crate::change::{Guard, HandOver, Refused};

/// The parts of a step that changes a file.
pub(super) struct Edit {
    pub(super) guard: Guard,
    pub(super) dry_run: Script,
    pub(super) write: Script,
    pub(super) back: Script,
    /// The new file or its differences; the script's word for it.
    pub(super) files: Vec<HandOver>,
    pub(super) whole: Option<Word>,
}

/// Gives a captured file another text, and says how the node's own file gets it: a new one is written, one that is
/// there is changed where it stands. Refused where the captured copy says too little of the file.
pub(super) fn edit(
    state: &mut Captured,
    node: &str,
    path: &str,
    after: &str,
    name: &str,
) -> Result<Edit, Refused> {
    check_path(path)?;
    let captured = entry(node, path);
    let (before, first) = (state.now(&captured), state.before(&captured));
    let altered = state.altered(&captured);
    let Some(before) = before else {
        return match altered {
            Some(why) => Err(refused(path, node, &why.to_string())),
            None => Ok(added(state, &captured, path, after, name)),
        };
    };
    let differences = differences(path, node, &before, after, altered.as_ref())?;
    let known = altered.is_none() && !state.is_pasted(&captured) && first.as_ref() == Some(&before);
    state.set(&captured, after.to_owned());
    let (file, stem) = (Word::text(path), state.fresh_name(name));
    let patch_name = format!("{stem}.patch");
    let word = Word::beside(&patch_name);
    let guard = Guard {
        test: if known {
            Test::Sha256(file.clone(), casefile_bundle::sha256_hex(before.as_bytes()))
        } else {
            Test::Fits {
                path: file.clone(),
                patch: word.clone(),
            }
        },
        says: if known {
            format!("{path} is as it was when the bundle was collected")
        } else {
            format!("{path} holds the lines that are changed, each once")
        },
    };
    let mut files = vec![HandOver {
        name: patch_name,
        content: differences,
        what: format!("the lines of {path} that change"),
    }];
    let mut whole = None;
    if known {
        whole = Some(Word::beside(&stem));
        files.push(HandOver {
            name: stem,
            content: after.to_owned(),
            what: format!("the whole new {path}, to read"),
        });
    }
    let [dry_run, write, back] = lines(file, New::Patch(word));
    Ok(Edit {
        guard,
        dry_run,
        write,
        back,
        files,
        whole,
    })
}

/// A file that is new.
fn added(state: &mut Captured, captured: &str, path: &str, after: &str, name: &str) -> Edit {
    state.set(captured, after.to_owned());
    let (file, name) = (Word::text(path), state.fresh_name(name));
    let word = Word::beside(&name);
    let guard = Guard {
        test: Test::Missing(file.clone()),
        says: format!("{path} still does not exist"),
    };
    let [dry_run, write, back] = lines(file, New::Whole(word.clone()));
    Edit {
        guard,
        dry_run,
        write,
        back,
        files: vec![HandOver {
            name,
            content: after.to_owned(),
            what: format!("the whole new {path}"),
        }],
        whole: Some(word),
    }
}

/// What shows the change, makes it and takes it back.
fn lines(path: Word, new: New) -> [Script; 3] {
    let compare = Line::CompareFile {
        path: path.clone(),
        new: new.clone(),
    };
    let write = Line::Write {
        path: path.clone(),
        new,
    };
    [compare.into(), write.into(), Line::Restore(path).into()]
}

fn differences(
    path: &str,
    node: &str,
    before: &str,
    after: &str,
    altered: Option<&Altered>,
) -> Result<String, Refused> {
    match altered {
        Some(why @ (Altered::Link(_) | Altered::Uncollected(_) | Altered::Cut(_))) => {
            return Err(refused(path, node, &why.to_string()));
        }
        Some(Altered::Secrets | Altered::Names) | None => {}
    }
    if before == after {
        return Err(Refused::new(format!(
            "{path} on {node} is like that already"
        )));
    }
    let is_hidden = |line: &str| match altered {
        Some(Altered::Secrets) => ["<redacted:", "<not collected>"]
            .iter()
            .any(|mark| line.contains(mark)),
        Some(Altered::Names) => may_be_renamed(line) || line.contains("<redacted:"),
        _ => false,
    };
    patch(path, before, after, &is_hidden).map_err(|hidden| {
        let lines: Vec<String> = hidden.0.iter().take(8).map(usize::to_string).collect();
        let why = altered.map_or_else(|| "its lines repeat".to_owned(), ToString::to_string);
        refused(
            path,
            node,
            &format!(
                "{why}, and line {} of the copy would change",
                lines.join(", ")
            ),
        )
    })
}

/// Whether a line may hold a name or address that the anonymiser put there: `class-1a2b3c4d`, or any address.
fn may_be_renamed(line: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let pseudonym = line
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .any(|word| {
            word.rsplit_once('-')
                .is_some_and(|(_, end)| end.len() == 8 && digits(end))
        });
    let address = line
        .split(|c: char| !c.is_ascii_hexdigit() && c != '.' && c != ':')
        .any(|word| word.parse::<std::net::IpAddr>().is_ok());
    pseudonym || address
}

fn refused(path: &str, node: &str, why: &str) -> Refused {
    Refused::new(format!(
        "{path} on {node} is not changed by a script: {why}. A person changes it on the node"
    ))
}

/// Whether a path can be one of a node's file that a script names: absolute, without a way up or control characters.
pub(super) fn check_path(path: &str) -> Result<(), Refused> {
    let up = path.split('/').any(|part| part == ".." || part == ".");
    if path.starts_with('/') && !path.ends_with('/') && !up && !path.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Refused::new(format!("{path:?} is no absolute path")))
}
