//! One rule of iptables in its own words, applied to the text of `iptables-save`.

use crate::change::shell::{Command, Line, Program, Test, Word, run};
use crate::change::{Guard, Refused};
use crate::firewall::packet::Interface;

/// What is done to a chain of the table `filter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Append,
    Insert,
    Delete,
    Policy,
}

/// `-I FORWARD -i cni0 -j ACCEPT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    act: Act,
    chain: String,
    words: Vec<String>,
}

impl Rule {
    pub(super) fn parse(text: &str) -> Result<Self, Refused> {
        let wrong = |why: &str| Refused::new(format!("iptables rule {text:?}: {why}"));
        let plain = |word: &str| {
            word.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+._:/-@,!".contains(&byte))
        };
        let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if let Some(word) = words.iter().find(|word| !plain(word)) {
            return Err(wrong(&format!("{word:?} is not understood here")));
        }
        if words.first().is_some_and(|word| word == "iptables") {
            words.remove(0);
        }
        if words.first().is_some_and(|word| word == "-t") {
            if words.get(1).is_none_or(|table| table != "filter") {
                return Err(wrong("only the table filter is replayed"));
            }
            words.drain(..2);
        }
        let act = match words.first().map(String::as_str) {
            Some("-A") => Act::Append,
            Some("-I") => Act::Insert,
            Some("-D") => Act::Delete,
            Some("-P") => Act::Policy,
            _ => return Err(wrong("it begins with none of -A, -I, -D, -P")),
        };
        let chain = words
            .get(1)
            .cloned()
            .ok_or_else(|| wrong("it names no chain"))?;
        let rest = words.split_off(2);
        if let Some(word) = not_of_a_match(&chain, &rest) {
            return Err(wrong(&format!("{word:?} is not understood here")));
        }
        let complete = match act {
            Act::Policy => {
                matches!(rest.as_slice(), [policy] if ["ACCEPT", "DROP"].contains(&policy.as_str()))
            }
            _ => rest.iter().any(|word| word == "-j" || word == "-g"),
        };
        if !complete {
            return Err(wrong("it names no target"));
        }
        Ok(Self {
            act,
            chain,
            words: rest,
        })
    }

    fn body(&self) -> String {
        format!("{} {}", self.chain, self.words.join(" "))
    }

    /// Edits the table `filter` of a dump, with or without counters.
    pub(super) fn apply(&self, lines: &mut Vec<String>) -> Result<(), String> {
        let start = lines
            .iter()
            .position(|line| line.trim() == "*filter")
            .ok_or("it has no table filter")?;
        let end = lines[start..]
            .iter()
            .position(|line| line.trim() == "COMMIT")
            .map_or(lines.len(), |at| start + at);
        let head = format!(":{} ", self.chain);
        let declared = lines[start..end]
            .iter()
            .position(|line| line.starts_with(&head))
            .map(|at| start + at)
            .ok_or_else(|| format!("the table filter has no chain {}", self.chain))?;
        let of_chain = format!("-A {} ", self.chain);
        let counters = lines[start..end]
            .iter()
            .any(|line| line.starts_with('[') && line.contains("] -A "));
        let new = format!("{}-A {}", if counters { "[0:0] " } else { "" }, self.body());
        let own: Vec<usize> = (start..end)
            .filter(|at| lines[*at].contains(&of_chain))
            .collect();
        let rules_start = (start..end)
            .rev()
            .find(|at| lines[*at].starts_with(':'))
            .map_or(declared + 1, |at| at + 1);
        match self.act {
            Act::Policy => {
                let rest = lines[declared]
                    .split_once('[')
                    .map_or("[0:0]".to_owned(), |(_, rest)| format!("[{rest}"));
                lines[declared] = format!("{head}{} {rest}", self.words[0]);
            }
            Act::Append => lines.insert(own.last().map_or(rules_start, |at| at + 1), new),
            Act::Insert => lines.insert(own.first().copied().unwrap_or(rules_start), new),
            Act::Delete => {
                let wanted = format!("-A {}", self.body());
                let at = own
                    .into_iter()
                    .find(|at| lines[*at].ends_with(&wanted))
                    .ok_or_else(|| format!("the chain {} has no rule {wanted}", self.chain))?;
                lines.remove(at);
            }
        }
        Ok(())
    }

    /// `PROGRAM -A CHAIN ...`. Words of a rule may begin with a dash: [`not_of_a_match`] has looked at each.
    fn call(&self, program: Program, act: &'static str) -> Command {
        let command = run(program).word(act).text(&self.chain);
        self.words.iter().fold(command, |command, word| {
            command.on(Word::Checked(word.clone()))
        })
    }

    /// The command that makes the change.
    pub(super) fn command(&self, program: Program) -> Command {
        let act = match self.act {
            Act::Policy => "-P",
            Act::Delete => "-D",
            Act::Append => "-A",
            Act::Insert => "-I",
        };
        self.call(program, act)
    }

    /// The line that takes the change back, and nothing else: what others have changed since stays. A rule that
    /// was deleted comes back at the end of its chain.
    pub(super) fn undone(&self, program: Program, policy: Option<&str>) -> Option<Line> {
        let there = || self.call(program, "-C").quiet();
        match self.act {
            Act::Policy => {
                let back = run(program).word("-P").text(&self.chain).text(policy?);
                Some(Line::Run(back.into()))
            }
            Act::Delete => Some(Line::Either(there(), self.call(program, "-A").into())),
            Act::Append | Act::Insert => Some(Line::If(
                Test::Succeeds(there()),
                self.call(program, "-D").into(),
                Line::Say("the rule is not there").into(),
            )),
        }
    }

    /// The policy of the rule's chain in a dump.
    pub(super) fn policy<'a>(&self, dump: &'a str) -> Option<&'a str> {
        let head = format!(":{} ", self.chain);
        let table = dump.split("*filter").nth(1)?.split("COMMIT").next()?;
        let line = table
            .lines()
            .find_map(|line| line.strip_prefix(head.as_str()))?;
        line.split_whitespace()
            .next()
            .filter(|policy| ["ACCEPT", "DROP"].contains(policy))
    }

    /// The line for `iptables-restore --test`.
    pub(super) fn test_line(&self) -> String {
        match self.act {
            Act::Policy => format!(":{} {} [0:0]", self.chain, self.words[0]),
            Act::Append => format!("-A {}", self.body()),
            Act::Insert => format!("-I {}", self.body()),
            Act::Delete => format!("-D {}", self.body()),
        }
    }

    /// What has to be so for the change to make sense, and for taking it back to take nothing else.
    pub(super) fn guard(&self, program: Program, policy: Option<&str>) -> Guard {
        let chain = || Test::Succeeds(run(program).word("-S").text(&self.chain).quiet());
        match (self.act, policy) {
            (Act::Delete, _) => Guard {
                test: Test::Succeeds(self.call(program, "-C").quiet()),
                says: format!("the rule {} is there", self.body()),
            },
            (Act::Policy, Some(policy)) => {
                let line = format!("-P {} {policy}", self.chain);
                let find = run(Program::Grep).words(&["-c", "-x", "-F"]).text(line);
                Guard {
                    test: Test::Succeeds(
                        run(program).word("-S").text(&self.chain).pipe(find).quiet(),
                    ),
                    says: format!("the policy of the chain {} is still {policy}", self.chain),
                }
            }
            (Act::Policy, None) => Guard {
                test: chain(),
                says: format!("the chain {} is there", self.chain),
            },
            (Act::Append | Act::Insert, _) => Guard {
                test: Test::All(vec![chain(), Test::Fails(self.call(program, "-C").quiet())]),
                says: format!(
                    "the chain {} is there, without the rule {}",
                    self.chain,
                    self.body()
                ),
            },
        }
    }

    /// The interfaces of a rule that accepts; none for one that does not.
    pub(super) fn accepts(&self) -> Option<(Option<Interface>, Option<Interface>)> {
        let after = |flag: &str| {
            let at = self.words.iter().position(|word| word == flag)?;
            self.words.get(at + 1)
        };
        let accepts = match self.act {
            Act::Append | Act::Insert => after("-j").is_some_and(|target| target == "ACCEPT"),
            Act::Policy => self.words[0] == "ACCEPT",
            Act::Delete => false,
        };
        let interface = |flag: &str| after(flag).map(|name| Interface::parse(name));
        accepts.then(|| (interface("-i"), interface("-o")))
    }
}

/// Options that say which packets are meant and what becomes of them. Others are refused: `-M` runs a program,
/// and a name with a slash after `-m` or `-j` loads a library from where it points.
const OPTIONS: [&str; 24] = [
    "-i",
    "-o",
    "-s",
    "-d",
    "-p",
    "-m",
    "-j",
    "-g",
    "--dport",
    "--sport",
    "--dports",
    "--sports",
    "--state",
    "--ctstate",
    "--comment",
    "--mark",
    "--reject-with",
    "--in-interface",
    "--out-interface",
    "--source",
    "--destination",
    "--protocol",
    "--jump",
    "--tcp-flags",
];

/// The first word that is no part of a plain rule.
fn not_of_a_match<'a>(chain: &'a str, words: &'a [String]) -> Option<&'a str> {
    let is_name = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphanumeric())
            && word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    if !is_name(chain) {
        return Some(chain);
    }
    let mut before = "";
    for word in words {
        let loads = ["-m", "-j", "-g", "--jump"].contains(&before);
        if (word.starts_with('-') && !OPTIONS.contains(&word.as_str())) || (loads && !is_name(word))
        {
            return Some(word);
        }
        before = word;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "*nat\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n*filter\n:FORWARD DROP [5:300]\n:DOCKER-USER - [0:0]\n-A FORWARD -j DOCKER-USER\nCOMMIT";

    fn after(rule: &str) -> Result<String, String> {
        let mut lines: Vec<String> = DUMP.lines().map(str::to_owned).collect();
        Rule::parse(rule).unwrap().apply(&mut lines)?;
        Ok(lines.join("\n"))
    }

    #[test]
    fn rules_go_where_iptables_puts_them() {
        let inserted = after("-I FORWARD -i cni0 -j ACCEPT").unwrap();
        assert!(
            inserted.contains("-A FORWARD -i cni0 -j ACCEPT\n-A FORWARD -j DOCKER-USER\n"),
            "{inserted}"
        );
        let into_empty = after("-A DOCKER-USER -s 10.0.0.0/8 -j ACCEPT").unwrap();
        assert!(
            into_empty.contains("-s 10.0.0.0/8 -j ACCEPT"),
            "{into_empty}"
        );
        let policy = after("-P FORWARD ACCEPT").unwrap();
        assert!(policy.contains(":FORWARD ACCEPT [5:300]"), "{policy}");
        let deleted = after("-D FORWARD -j DOCKER-USER").unwrap();
        assert!(!deleted.contains("-j DOCKER-USER"), "{deleted}");
    }

    #[test]
    fn what_is_not_there_or_not_understood_is_named() {
        assert!(
            after("-D FORWARD -j DROP")
                .unwrap_err()
                .contains("has no rule -A FORWARD -j DROP")
        );
        assert!(
            after("-A NONE -j DROP")
                .unwrap_err()
                .contains("has no chain NONE")
        );
        let error = Rule::parse("-A FORWARD -j $(reboot)").unwrap_err();
        assert!(error.why.contains("not understood"), "{error}");
    }

    #[test]
    fn a_rule_that_would_run_a_program_or_load_a_library_is_refused() {
        for rule in [
            "-A FORWARD -M /tmp/x -j ACCEPT",
            "-A FORWARD --modprobe /tmp/x -j ACCEPT",
            "-A FORWARD -m ../../tmp/x -j ACCEPT",
            "-A FORWARD -j ../x",
            "-A -F -j ACCEPT",
        ] {
            let error = Rule::parse(rule).unwrap_err();
            assert!(error.why.contains("not understood"), "{rule}: {error}");
        }
    }
}
