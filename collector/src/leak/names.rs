//! Words of a key's name, and where an object's own name stands.

/// The words of a name in any case: `postgres-password`, `rootPassword` and `ROOT_PASSWORD` are two words each.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            before = ' ';
            continue;
        }
        let begins = before == ' ' || (before.is_ascii_lowercase() && c.is_ascii_uppercase());
        match words.last_mut().filter(|_| !begins) {
            Some(word) => word.push(c.to_ascii_lowercase()),
            None => words.push(c.to_ascii_lowercase().to_string()),
        }
        before = c;
    }
    words
}

/// Members of objects whose value is a name that the cluster itself shows.
const MEMBERS: [&[u8]; 5] = [
    br#""name":""#,
    br#""namespace":""#,
    br#""nodeName":""#,
    br#""hostname":""#,
    br#""uid":""#,
];

/// Whether these bytes are the whole name of an object there: names are lower-case letters, digits, dashes and dots.
pub(super) fn is_object_name(bytes: &[u8], start: usize, end: usize) -> bool {
    let value = bytes.get(start..end).unwrap_or_default();
    let fits =
        |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(byte);
    let before = bytes.get(..start).unwrap_or_default();
    value.iter().all(fits)
        && bytes.get(end) == Some(&b'"')
        && MEMBERS.iter().any(|member| before.ends_with(member))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_object_s_whole_name_is_one() {
        let line = br#"{"metadata":{"name":"pg16-cluster-rw"},"spec":{"value":"pg16-cluster-rw"}}"#;
        let hits: Vec<usize> = memchr::memmem::find_iter(line, b"pg16-cluster-rw").collect();
        let named: Vec<bool> = hits
            .iter()
            .map(|at| is_object_name(line, *at, at + 15))
            .collect();
        assert_eq!(named, [true, false]);
        assert!(!is_object_name(line, hits[0], hits[0] + 4));
    }
}
