//! What a pattern needs of a line, known for the shipped patterns since they were built in.

use std::sync::OnceLock;

use casefile_catalogue_files::needs::{Needs, signs};
use casefile_shapes::index::{Held, Needle};
use regex_syntax::hir::Hir;

use crate::scan::literals;
use crate::shipped;

/// Texts that a line must hold.
pub(super) struct Clauses {
    texts: Texts,
    needs: OnceLock<Tree>,
}

enum Texts {
    Known(&'static shipped::Clauses),
    Own(Own),
}

/// What a pattern needs that is not shipped.
struct Own {
    first: Vec<String>,
    rare: Vec<String>,
    needs: String,
}

impl Clauses {
    /// Those of an expression.
    pub(super) fn of(expression: &str) -> Self {
        let own = || Texts::Own(Own::of(expression));
        let texts = shipped::clauses(expression).map_or_else(own, Texts::Known);
        Self {
            texts,
            needs: OnceLock::new(),
        }
    }

    /// The texts of which one stands in the line; none where nothing is known to.
    pub(super) fn first(&self) -> Vec<&str> {
        match &self.texts {
            Texts::Known((_, first, ..)) => first.to_vec(),
            Texts::Own(own) => own.first.iter().map(String::as_str).collect(),
        }
    }

    /// Of those the ones that are looked for in logs.
    pub(super) fn rare(&self) -> Vec<&str> {
        match &self.texts {
            Texts::Known((.., rare, _, _)) => rare.to_vec(),
            Texts::Own(own) => own.rare.iter().map(String::as_str).collect(),
        }
    }

    /// All texts that are looked for.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.written()
            .split(char::is_control)
            .filter(|text| !text.is_empty())
    }

    fn written(&self) -> &str {
        match &self.texts {
            Texts::Known((.., needs, _)) => needs,
            Texts::Own(own) => &own.needs,
        }
    }

    fn needs(&self) -> &Tree {
        self.needs.get_or_init(|| Tree::read(self.written()))
    }

    /// Whether a line holds what the pattern needs.
    pub(super) fn hold(&self, line: &Held) -> bool {
        self.needs().holds(&|text| line.holds(text))
    }

    /// Whether some line of a shape may.
    pub(super) fn may_hold(&self, shape: &Held) -> bool {
        self.needs().holds(&|text| shape.may_hold(text))
    }
}

impl Own {
    fn of(expression: &str) -> Self {
        // One that does not parse matches nothing, whatever a line holds.
        let parsed = regex_syntax::parse(expression).unwrap_or_else(|_| Hir::empty());
        let clauses = literals::clauses_of(&parsed);
        Self {
            rare: literals::rare(&clauses),
            first: clauses.into_iter().next().unwrap_or_default(),
            needs: Needs::of_part(&parsed).to_string(),
        }
    }
}

/// What is needed, ready to be looked for.
enum Tree {
    Text(Box<Needle>),
    All(Vec<Tree>),
    Any(Vec<Tree>),
}

impl Tree {
    /// As [`signs`] write it.
    fn read(written: &str) -> Self {
        let mut open = vec![(signs::ALL, Vec::new())];
        let mut rest = written;
        while let Some(sign) = rest.chars().next() {
            rest = &rest[sign.len_utf8()..];
            let closed = match sign {
                signs::TEXT => {
                    let end = rest.find(char::is_control).unwrap_or(rest.len());
                    let (text, behind) = rest.split_at(end);
                    rest = behind;
                    Some(Tree::Text(Box::new(Needle::new(text))))
                }
                signs::END => open.pop().map(Self::closed),
                sign => {
                    open.push((sign, Vec::new()));
                    None
                }
            };
            if let (Some((_, parts)), Some(closed)) = (open.last_mut(), closed) {
                parts.push(closed);
            }
        }
        Tree::All(open.pop().map(|(_, parts)| parts).unwrap_or_default())
    }

    fn closed((sign, parts): (char, Vec<Tree>)) -> Self {
        match sign {
            signs::ANY => Tree::Any(parts),
            _ => Tree::All(parts),
        }
    }

    fn holds(&self, stands: &impl Fn(&Needle) -> bool) -> bool {
        match self {
            Tree::Text(text) => stands(text),
            Tree::All(parts) => parts.iter().all(|part| part.holds(stands)),
            Tree::Any(parts) => parts.iter().any(|part| part.holds(stands)),
        }
    }
}

#[cfg(test)]
mod tests {
    use casefile_catalogue_files::worded;

    use super::*;

    #[test]
    fn what_was_built_in_is_what_the_expressions_say() {
        let (.., known) = shipped::catalogue();
        assert!(known.len() > 500 && known.is_sorted_by_key(|(expression, ..)| *expression));
        for (expression, first, rare, needs, words) in known {
            let own = Own::of(expression);
            assert_eq!(own.rare, *rare, "{expression}");
            assert_eq!(own.first, *first, "{expression}");
            assert_eq!(own.needs, *needs, "{expression}");
            assert_eq!(worded::words_of(expression), *words);
        }
    }

    #[test]
    fn a_line_must_hold_all_texts_of_one_alternative() {
        let clauses = Clauses::of("(?i)double bit error|DBE.{0,40}(?:detected|volatile).*counted");
        for (line, expected) in [
            ("a Double Bit Error", true),
            ("dbe detected", false),
            ("DBE volatile, counted", true),
            ("counted", false),
        ] {
            let mut held = Held::default();
            held.take(line.as_bytes());
            assert_eq!(clauses.hold(&held), expected, "{line}");
        }
    }
}
