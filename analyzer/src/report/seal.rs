//! The page's own policy: its style and its script run by their hashes, and nothing else does.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// What stands in the page's policy for the hash of each element.
const ELEMENTS: [(&str, &str, &str); 2] = [
    ("sha256-of-the-style", "<style>", "</style>"),
    ("sha256-of-the-script", "<script>", "</script>"),
];

/// Puts the hashes of the first style and the first script into the policy, which stands before them. Pages
/// that do not ask for them stay as they are.
pub(super) fn seal(mut page: String) -> String {
    for (mark, open, close) in ELEMENTS {
        let Some(at) = page.find(mark) else {
            continue;
        };
        let hash = element(&page, open, close).map(hash).unwrap_or_default();
        page.replace_range(at..at + mark.len(), &hash);
    }
    page
}

fn element<'p>(page: &'p str, open: &str, close: &str) -> Option<&'p str> {
    let start = page.find(open)? + open.len();
    let end = start + page[start..].find(close)?;
    Some(&page[start..end])
}

fn hash(content: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(content)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_the_hash_of_what_stands_in_the_page() {
        let page = "<meta content=\"script-src 'sha256-of-the-script'\"><script>alert(1)</script>";
        // As `openssl dgst -sha256 -binary | base64` has it.
        let expected = "sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI=";
        assert!(seal(page.to_owned()).contains(expected));
        assert_eq!(seal("<script>x</script>".to_owned()), "<script>x</script>");
    }
}
