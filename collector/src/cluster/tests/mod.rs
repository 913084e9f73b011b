//! The cluster sources against a server: a recording of a real one, and one with faults.

mod faults;
mod parts;
mod recorded;

use super::testing::Collected;

/// The names of a list file's items, in their order.
fn names(collected: &Collected, path: &str) -> Vec<String> {
    let items = collected.items(path);
    items
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned())
        .collect()
}
