//! Wraps that only a guess undoes: at any width, at blanks as mail programs break, and inside the cells of a table.
//!
//! Each guess follows from one width that all lines of a text would have been broken at. It says where its seams are, so that
//! who looks for messages can tell one that goes over a seam from one whose halves only happen to stand in two lines.

mod cells;
mod seams;

use std::collections::BTreeSet;

use seams::{heals, is_unfinished};

/// Nobody wraps more narrowly.
const NARROWEST: usize = 12;
/// Widths at which programs wrap.
const USUAL: [usize; 9] = [64, 70, 72, 76, 78, 79, 80, 100, 120];
/// A line that goes on in the cell above stands so far to the right at least.
const INDENT: usize = 8;
/// A seam at which a word was cut: nothing stands between its halves.
const CUT: char = '\u{1}';
/// A seam at a blank.
const BLANK: char = '\u{2}';

/// How a text may have been before it was wrapped; lines keep their numbers.
#[derive(Debug)]
pub struct Guess {
    /// Lines with marks at their seams.
    lines: Vec<String>,
    /// Lines, from 0, that were put together from wrapped ones, or taken out of a frame.
    pub joined: BTreeSet<u32>,
    /// All of the text stood in the column of a table.
    pub is_framed: bool,
    /// Words of messages that were whole again.
    pub healed: usize,
    /// Lines that end in the middle by what they say themselves, and are whole with the next one.
    pub unfinished: usize,
    /// The lines are as wide as programs make them by themselves.
    pub is_usual: bool,
}

impl Guess {
    /// The text without its wraps.
    pub fn text(&self) -> String {
        self.written(|_| true, |line| line.replace(CUT, "").replace(BLANK, " "))
    }

    /// The lines that were put together, and nothing of the others; as they were, or with a mark at each seam.
    pub fn seams(&self, marked: bool) -> String {
        self.written(
            |line| self.joined.contains(&line),
            |line| match marked {
                true => line.to_owned(),
                false => line.replace(CUT, "").replace(BLANK, " "),
            },
        )
    }

    fn written(&self, wanted: impl Fn(u32) -> bool, how: impl Fn(&str) -> String) -> String {
        let mut text = String::new();
        for (line, number) in self.lines.iter().zip(0u32..) {
            if wanted(number) {
                text.push_str(&how(line));
            }
            text.push('\n');
        }
        text
    }
}

/// Whether a word, in lower case, is one of those that messages are made of.
pub type Known<'k> = &'k dyn Fn(&str) -> bool;

/// How a text may have been before it was wrapped.
pub fn guesses(text: &str, known: Known<'_>) -> Vec<Guess> {
    if text.contains([CUT, BLANK]) {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let rows = |flow: Flow, blocks: bool| along(&lines, flow, blocks, known);
    let ways = [
        cells::column(&lines, known),
        cells::row_by_row(&lines),
        rows(Flow::Hard, false),
        rows(Flow::Soft, false),
        rows(Flow::Hard, true),
        rows(Flow::Soft, true),
        below(&lines),
    ];
    let mut found: Vec<Guess> = Vec::new();
    for guess in ways.into_iter().flatten() {
        if !found.iter().any(|other| other.lines == guess.lines) {
            found.push(guess.checked(known));
        }
    }
    found
}

impl Guess {
    /// The same with what shows at its seams counted.
    fn checked(mut self, known: Known<'_>) -> Self {
        for line in &self.lines {
            for (at, seam) in line.match_indices([CUT, BLANK]) {
                let (before, after) = (&line[..at], &line[at + seam.len()..]);
                let cut = seam.starts_with(CUT);
                self.healed += usize::from(cut && heals(before, after, known));
                self.unfinished += usize::from(is_unfinished(before, after));
            }
        }
        self
    }
}

/// A text whose lines are put together, each with those that go on with it.
#[derive(Default)]
struct Joining {
    lines: Vec<String>,
    joined: BTreeSet<u32>,
}

impl Joining {
    fn push(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    /// Puts a line behind an earlier one and leaves its place empty.
    fn join(&mut self, at: usize, seam: char, rest: &str) {
        if let Some(line) = self.lines.get_mut(at) {
            line.push(seam);
            line.push_str(rest);
            self.joined.insert(u32::try_from(at).unwrap_or(u32::MAX));
        }
        self.lines.push(String::new());
    }

    fn done(self) -> Option<Guess> {
        (!self.joined.is_empty()).then_some(Guess {
            lines: self.lines,
            joined: self.joined,
            is_framed: false,
            healed: 0,
            unfinished: 0,
            is_usual: false,
        })
    }
}

/// Letters of a line.
fn width(line: &str) -> usize {
    line.chars().count()
}

/// Where lines are broken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// After so many letters, wherever that is: a full line goes on with the next one.
    Hard,
    /// At the last blank before: the first word of the next line had found no room.
    Soft,
}

impl Flow {
    /// The width that lines would have been broken at. A word without a blank that is longer stays whole in a soft wrap.
    fn width(self, lines: &[&str]) -> Option<usize> {
        let may_count = |line: &&&str| self == Flow::Hard || line.trim().contains(' ');
        let widths = lines.iter().filter(may_count).map(|line| width(line));
        widths.max().filter(|widest| *widest >= NARROWEST)
    }

    /// Whether a line had no room for what the next one begins with.
    fn is_full(self, line: &str, next: &str, widest: usize) -> bool {
        match self {
            Flow::Hard => width(line) == widest,
            Flow::Soft => {
                let word = next.split(' ').next().unwrap_or("");
                width(line) + 1 + width(word) > widest
            }
        }
    }

    /// Puts the next line behind one that goes on with it.
    fn join(self, all: &mut Joining, at: usize, next: &str, known: Known<'_>) {
        if self == Flow::Hard {
            return all.join(at, CUT, next);
        }
        let before = all.lines.get_mut(at);
        let hyphen = before.filter(|line| {
            let mut last = line.chars().rev();
            last.next() == Some('-') && last.next().is_some_and(char::is_alphanumeric)
        });
        match hyphen {
            Some(line) => {
                let whole = line.trim_end_matches('-');
                if heals(whole, next, known) {
                    line.truncate(whole.len());
                }
                all.join(at, CUT, next);
            }
            None => all.join(at, BLANK, next),
        }
    }
}

/// Lines put together that were broken at one width, of the whole text or of each of its blocks.
fn along(lines: &[&str], flow: Flow, blocks: bool, known: Known<'_>) -> Option<Guess> {
    let mut all = Joining::default();
    let is_gap = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with("```");
    let stretches: Vec<&[&str]> = match blocks {
        true => lines.split_inclusive(is_gap).collect(),
        false => vec![lines],
    };
    for stretch in stretches {
        let widest = flow.width(stretch).unwrap_or(usize::MAX);
        // The line that is open: where it stands, and what it begins with.
        let mut open: Option<(usize, &str)> = None;
        let mut before = "";
        for line in stretch {
            let goes_on =
                |head: &str| flow.is_full(before, line, widest) && continues(head, line, flow);
            match open.filter(|(_, head)| goes_on(head)) {
                Some((at, _)) => flow.join(&mut all, at, line, known),
                None => {
                    open = Some((all.lines.len(), line));
                    all.push(line);
                }
            }
            before = line;
        }
    }
    let mut guess = all.done()?;
    let widest = flow.width(lines).filter(|_| flow == Flow::Hard && !blocks);
    guess.is_usual = widest.is_some_and(|widest| USUAL.contains(&widest));
    Some(guess)
}

/// Whether a line may be the rest of one that begins with `head`.
fn continues(head: &str, line: &str, flow: Flow) -> bool {
    let soft = || flow == Flow::Hard || !line.starts_with([' ', '\t']);
    !line.trim().is_empty() && soft() && !begins(line) && !is_alike(head, line)
}

/// Whether a line has a head of its own: a clock, a prompt, a fence, a row's type of event, a bar.
fn begins(line: &str) -> bool {
    const HEADS: [&str; 6] = ["Warning  ", "Normal  ", "$ ", "```", "| ", "+-"];
    super::undress(line).is_dressed || HEADS.iter().any(|head| line.starts_with(head))
}

/// Whether two lines begin in the same way: with one word, or with a number and the same sign behind it.
fn is_alike(one: &str, other: &str) -> bool {
    let first = |line: &str| {
        let word = line.split([' ', '\t']).next().unwrap_or("");
        word.replace(|letter: char| letter.is_ascii_digit(), "0")
    };
    let word = first(one);
    word == first(other) && (word.len() > 2 || word.ends_with([':', '.', ')']))
}

/// The last column of a table without bars: it goes on far to the right, below a row that does not.
fn below(lines: &[&str]) -> Option<Guess> {
    let mut all = Joining::default();
    let mut open: Option<usize> = None;
    for line in lines {
        let indent = width(line) - width(line.trim_start());
        let column = open.and_then(|at| all.lines.get(at)).is_some_and(|above| {
            above
                .chars()
                .take(indent)
                .last()
                .is_some_and(char::is_whitespace)
        });
        let goes_on = indent >= INDENT && column && !super::undress(line).is_dressed;
        match open.filter(|_| goes_on) {
            Some(at) => all.join(at, BLANK, line.trim()),
            None => {
                let begins = !line.starts_with(' ') && !line.trim().is_empty();
                open = begins.then_some(all.lines.len());
                all.push(line);
            }
        }
    }
    all.done()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        r#"Failed to pull image "reg/app:1": rpc error: code = Unknown desc = no such host"#;

    fn is_known(word: &str) -> bool {
        ["failed", "unknown", "configured"].contains(&word)
    }

    fn holds(damaged: &str, text: &str) {
        let numbers = damaged.lines().count();
        let found = guesses(damaged, &is_known).into_iter().any(|one| {
            assert_eq!(one.text().lines().count(), numbers);
            one.text().contains(text)
        });
        assert!(found, "{damaged}");
    }

    #[test]
    fn a_line_is_one_again_whatever_width_it_was_broken_at() {
        for width in 20..=LINE.len() - 1 {
            let letters: Vec<char> = LINE.chars().collect();
            let pieces = letters.chunks(width).map(|piece| piece.iter().collect());
            let hard: Vec<String> = pieces.collect();
            holds(&hard.join("\n"), LINE);
            let mut soft = vec![String::new()];
            for word in LINE.split(' ') {
                let last = soft.last_mut().unwrap();
                if last.is_empty() {
                    last.push_str(word);
                } else if last.len() + 1 + word.len() <= width {
                    last.push(' ');
                    last.push_str(word);
                } else {
                    soft.push(word.to_owned());
                }
            }
            holds(&soft.join("\n"), LINE);
        }
    }

    #[test]
    fn a_hyphen_that_cut_a_word_goes_and_another_one_stays() {
        holds(
            "no runtime for nvidia is con-\nfigured",
            "nvidia is configured",
        );
        holds(
            "the container of the nvidia-\ncontainer-toolkit",
            "nvidia-container-toolkit",
        );
    }

    #[test]
    fn a_cell_goes_on_below() {
        holds(
            "| pod   | message                          |\n|-------|------|\n| web-1 | Failed to pull image \"reg/app:1\": |\n|       | rpc error: code = Unknown desc =  |\n|       | no such host                      |\n",
            LINE,
        );
        holds(
            "NAME    MESSAGE\nweb-1   Failed to pull image \"reg/app:1\": rpc\n        error: code = Unknown desc = no such\n        host\n",
            LINE,
        );
    }

    #[test]
    fn a_text_in_the_column_of_a_table_keeps_its_indentation_and_its_bars() {
        let framed = "| 1 | spec:                |\n| 2 |   a: x | y           |\n| 3 |   image is con       |\n|   | figured              |\n";
        let guess = guesses(framed, &is_known).remove(0);
        assert!(guess.is_framed);
        assert_eq!(
            guess.text(),
            "spec:\n  a: x | y\n  image is con figured\n\n"
        );
    }

    #[test]
    fn seams_are_marked_and_words_that_are_whole_again_are_counted() {
        let guess = guesses("no runtime is con\nfigured\n", &is_known).remove(0);
        assert_eq!(guess.seams(true), "no runtime is con\u{1}figured\n\n");
        assert_eq!(guess.seams(false), "no runtime is configured\n\n");
        assert_eq!(guess.healed, 1);
    }

    #[test]
    fn lines_with_a_head_of_their_own_stay_apart() {
        for text in [
            "Nov 20 10:00:00 gpu-1 kubelet[1]: a message of some length\nNov 20 10:00:01 gpu-1 kubelet[1]: b\n",
            "12: eth0: a link of some length\n14: eth1: b\n",
            "Warning  FailedMount  a message of some length\nNormal  Pulled  b\n",
        ] {
            assert!(guesses(text, &is_known).is_empty(), "{text}");
        }
    }
}
