//! Paths and queries of requests.

use std::collections::BTreeSet;

/// The middle of a list's path: nothing for the whole cluster, or one part for each namespace asked for.
pub fn places(namespaces: &BTreeSet<String>) -> Vec<String> {
    if namespaces.is_empty() {
        return vec![String::new()];
    }
    namespaces.iter().map(|one| place(one)).collect()
}

/// The middle of a list's path in one namespace.
pub fn place(namespace: &str) -> String {
    format!("/namespaces/{}", query_value(namespace))
}

/// The paths of a core kind's lists: one, or one for each namespace asked for.
pub fn core_lists(plural: &str, namespaces: &BTreeSet<String>) -> Vec<String> {
    let places = places(namespaces).into_iter();
    places
        .map(|place| format!("/api/v1{place}/{plural}"))
        .collect()
}

/// A value as it stands in a request's query.
pub fn query_value(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            text.push(char::from(byte));
        } else {
            text.push('%');
            for half in [byte >> 4, byte & 15] {
                text.push(
                    char::from_digit(u32::from(half), 16)
                        .unwrap_or('0')
                        .to_ascii_uppercase(),
                );
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_escaped_for_the_query() {
        assert_eq!(
            query_value("owner=helm,a in (b)"),
            "owner%3Dhelm%2Ca%20in%20%28b%29"
        );
    }
}
