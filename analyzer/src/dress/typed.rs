//! Lines that a person types, behind a prompt or to be typed by who reads them: commands, which say nothing.
//!
//! Which programs people type is known from the rules: their steps call these. Some of the names are words of English as
//! well, so a line that reads like a sentence is none.

use std::collections::BTreeSet;
use std::sync::OnceLock;

/// Signs between commands.
const SIGNS: [char; 5] = [';', '|', '&', '(', ')'];
/// Words before a command that run it.
const RUNNERS: [&str; 3] = ["sudo", "time", "!"];
/// Words that hold an English sentence together. Behind the name of a program none of them is an argument.
const SENTENCE: [&str; 22] = [
    "a", "an", "and", "are", "as", "at", "be", "been", "by", "for", "from", "has", "if", "is",
    "not", "of", "or", "that", "the", "to", "was", "will",
];

/// Whether a line is typed: behind a prompt, by the program that it calls, or by what stands behind its first word.
pub(super) fn is_typed(line: &str) -> bool {
    let prompted = line.strip_prefix("$ ").or_else(|| line.strip_prefix("# "));
    let first = line.split([' ', ';']).next().unwrap_or("");
    prompted.is_some()
        || (is_program(first) && !is_sentence(line))
        || has_arguments(line, &["-", "--", "/", "./", "~/", "$"])
}

/// Whether a line behind a `#` is a command behind the prompt of root, and no comment.
pub(super) fn is_of_root(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or("");
    // Of options with two dashes comments speak as well.
    (is_program(first) && !is_sentence(line))
        || first.starts_with('/')
        || has_arguments(line, &["-"])
}

/// Whether a line reads like English behind its first word: "mount points of the host", "timeout for requests".
fn is_sentence(line: &str) -> bool {
    // What is quoted may be a text that a program is to print, and behind a sign another command begins.
    let plain = line.split(['\'', '"', ';', '|', '&']).next().unwrap_or("");
    let mut words = plain.split_whitespace().skip(1);
    words.any(|word| SENTENCE.contains(&word.trim_end_matches([',', '.', ':'])))
}

/// Whether a word calls a program.
fn is_program(word: &str) -> bool {
    static PROGRAMS: OnceLock<BTreeSet<String>> = OnceLock::new();
    let all = PROGRAMS.get_or_init(|| {
        let (rules, ..) = crate::shipped::catalogue();
        rules
            .iter()
            .flat_map(|(_, text, ..)| called(text))
            .collect()
    });
    RUNNERS.contains(&word) || all.contains(word)
}

/// Whether a line begins with a name and goes on with an argument that begins in one of these ways, or with a setting.
fn has_arguments(line: &str, begins: &[&str]) -> bool {
    let mut words = line.split_whitespace();
    let (Some(first), Some(second)) = (words.next(), words.next()) else {
        return false;
    };
    let is_argument = |begin: &&str| {
        let rest = second.strip_prefix(*begin);
        let goes_on = |first: char| first.is_ascii_alphanumeric() || first == '.';
        rest.is_some_and(|rest| rest.starts_with(goes_on))
    };
    // An error names a file with a colon behind it.
    is_name(first) && !second.ends_with([':', ',']) && begins.iter().any(is_argument)
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte)
        })
}

/// The programs that the commands of a rule's text call.
fn called(rule: &str) -> Vec<String> {
    let commands = rule.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = line.strip_prefix("- ").unwrap_or(line);
        line.strip_prefix("run: ")
    });
    let mut found = Vec::new();
    for command in commands {
        // In single quotes YAML writes one of its own twice.
        let plain = match command.strip_prefix('\'') {
            Some(quoted) => quoted.trim_end_matches('\'').replace("''", "'"),
            None => command.trim_matches('"').to_owned(),
        };
        call(&plain, &mut found);
    }
    found
}

/// Adds the words that stand where a command begins.
fn call(command: &str, found: &mut Vec<String>) {
    let mut quote: Option<char> = None;
    let mut begins = true;
    let mut rest = command;
    while let Some(letter) = rest.chars().next() {
        let is_word = !letter.is_whitespace() && !SIGNS.contains(&letter);
        if begins && quote.is_none() && is_word {
            let end = rest.find(|sign: char| sign == ' ' || SIGNS.contains(&sign));
            let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
            begins = RUNNERS.contains(&word) || word.contains('=');
            found.extend(Some(word).filter(|word| is_name(word)).map(str::to_owned));
            rest = behind;
            continue;
        }
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, ';' | '|' | '&' | '(') => begins = true,
            _ => {}
        }
        rest = &rest[letter.len_utf8()..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_tell_which_programs_people_call() {
        let rule = "  - run: 'sudo dmesg -T | grep -E ''a|b''; n=$(hostname) && lsmod'\n  - do: not this\n    run: kubectl get pods -o \"x; y\"\n";
        assert_eq!(
            called(rule),
            ["sudo", "dmesg", "grep", "hostname", "lsmod", "kubectl"]
        );
        assert!(is_program("kubectl") && is_program("sudo") && !is_program("failed"));
    }

    #[test]
    fn a_command_is_told_from_what_a_program_says() {
        for line in [
            "$ x",
            "kubectl get pods",
            "sudo reboot",
            "git -C /x pull",
            "cd /tmp",
            "vim ~/.bashrc",
        ] {
            assert!(is_typed(line), "{line}");
        }
        for line in [
            "timeout was exceeded",
            "mount of volume \"a\" has failed",
            "open /run/x: no such file",
            "unknown flag --x",
            "failed to open /x",
            "docker: Error response",
            "NVRM: Xid",
        ] {
            assert!(!is_typed(line), "{line}");
        }
        assert!(is_of_root("nvidia-smi") && is_of_root("/usr/bin/x") && is_of_root("ping -M do"));
        assert!(
            !is_of_root("use --fail-swap-on=false")
                && !is_of_root("suspend failures, kernel panics")
                && !is_of_root("mount points of the host")
        );
    }
}
