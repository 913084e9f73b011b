//! Hostile input for every parser, deriver and resolver: arbitrary bytes, and real entries with something broken in
//! them. Nothing may panic, what comes out is bounded by what goes in, and the same input gives the same answer.
//!
//! Parsers are taken from their registry, so that a new one is covered as soon as it is registered; what they read
//! comes from the samples. `PROPTEST_CASES` sets how many inputs each of them gets.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of a test stop it where they cannot go on"
)]

mod mutate;
mod parsers;
mod resolvers;
mod whole;

/// The rules that ship with the program.
fn shipped_rules() -> casefile_analyzer::rules::RuleSet {
    casefile_analyzer::shipped::ship(|| {
        casefile_catalogue_files::leaked(std::path::Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap()
    });
    let (set, faults) = casefile_analyzer::rules::load(None).unwrap();
    assert!(faults.is_empty(), "{faults:?}");
    set
}
