//! Evidence of two clusters in one folder or text: never joined into a cause that is confirmed.

use crate::{Verdicts, analyze, analyzer, cases, confirmed, verdicts};

#[test]
fn two_clusters_in_one_folder_confirm_nothing_that_neither_did_alone() {
    let cases = cases("two_clusters_in_one_folder_confirm_nothing_that_neither_did_alone");
    let analyzer = analyzer();
    let alone: Vec<Verdicts> = cases
        .iter()
        .map(|case| verdicts(&analyze(&analyzer, &case.files)))
        .collect();
    let mut wrong = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let at = (index * 37 + 11) % cases.len();
        let other = &cases[at];
        let mut files = case.files.clone();
        files.extend(
            other
                .files
                .iter()
                .map(|(name, text)| (format!("b-{name}"), text.clone())),
        );
        let both = verdicts(&analyze(&analyzer, &files));
        for cause in confirmed(&both) {
            let known = [&alone[index], &alone[at]]
                .iter()
                .any(|one| confirmed(one).contains(cause));
            let wanted = case.wanted.contains(cause) || other.wanted.contains(cause);
            if !known && !wanted {
                wrong.push(format!("{} with {}: {cause}", case.name, other.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
