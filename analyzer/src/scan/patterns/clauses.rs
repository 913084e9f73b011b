//! What a pattern needs of a line, known for the shipped patterns since they were built in.

use std::sync::OnceLock;

use super::index::{Held, Needle};
use crate::scan::literals;
use crate::shipped;

/// Texts of which a line must hold one of every clause.
pub(super) struct Clauses {
    texts: Texts,
    needles: OnceLock<Vec<Vec<Needle>>>,
}

enum Texts {
    Known(&'static shipped::Clauses),
    Own(Vec<Vec<String>>, Vec<String>),
}

impl Clauses {
    /// Those of an expression.
    pub(super) fn of(expression: &str) -> Self {
        let (.., shipped) = shipped::catalogue();
        let known = shipped.binary_search_by_key(&expression, |(known, ..)| *known);
        let texts = match known {
            Ok(at) => Texts::Known(&shipped[at]),
            Err(_) => {
                let clauses = literals::clauses(expression);
                let rare = literals::rare(&clauses);
                Texts::Own(clauses, rare)
            }
        };
        Self {
            texts,
            needles: OnceLock::new(),
        }
    }

    /// The texts of the clause that is best looked for; none where the expression has no clause.
    pub(super) fn first(&self) -> Vec<&str> {
        self.all().into_iter().next().unwrap_or_default()
    }

    /// Of those the ones that are looked for in logs.
    pub(super) fn rare(&self) -> Vec<&str> {
        match &self.texts {
            Texts::Known((.., rare)) => rare.to_vec(),
            Texts::Own(_, rare) => rare.iter().map(String::as_str).collect(),
        }
    }

    /// All texts of all clauses.
    pub(super) fn all(&self) -> Vec<Vec<&str>> {
        match &self.texts {
            Texts::Known((_, all, _)) => all.iter().map(|clause| clause.to_vec()).collect(),
            Texts::Own(all, _) => {
                let all = all.iter();
                all.map(|clause| clause.iter().map(String::as_str).collect())
                    .collect()
            }
        }
    }

    fn needles(&self) -> &[Vec<Needle>] {
        self.needles.get_or_init(|| {
            let clauses = self.all().into_iter();
            clauses
                .map(|clause| clause.into_iter().map(Needle::new).collect())
                .collect()
        })
    }

    /// Whether a line holds what the pattern needs.
    pub(super) fn hold(&self, line: &Held) -> bool {
        let mut clauses = self.needles().iter();
        clauses.all(|clause| clause.iter().any(|text| line.holds(text)))
    }

    /// Whether some line of a shape may.
    pub(super) fn may_hold(&self, shape: &Held) -> bool {
        let mut clauses = self.needles().iter();
        clauses.all(|clause| clause.iter().any(|text| shape.may_hold(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_built_in_is_what_the_expressions_say() {
        let (.., known) = shipped::catalogue();
        assert!(known.len() > 500 && known.is_sorted_by_key(|(expression, ..)| *expression));
        for (expression, clauses, rare) in known {
            let found = literals::clauses(expression);
            assert_eq!(literals::rare(&found), *rare, "{expression}");
            assert_eq!(found, *clauses, "{expression}");
        }
    }
}
