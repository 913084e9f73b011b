//! Values files as Helm reads them: words of YAML 1.1, in which `on` is true and `010` is eight.

use serde_json::Value;

/// Values files larger than this are not taken apart, in bytes.
const LARGEST: usize = 4 << 20;

/// Reads values; none where the text is too large or no YAML.
#[must_use]
pub fn read(text: &str) -> Option<Value> {
    if text.len() > LARGEST {
        return None;
    }
    let options = serde_saphyr::options! {
        legacy_octal_numbers: true,
    };
    serde_saphyr::from_str_with_options(text, options).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What Helm 4.2.3's own library says of each word.
    #[test]
    fn plain_words_are_read_as_helm_reads_them() {
        let table = [
            ("yes", json!(true)),
            ("On", json!(true)),
            ("y", json!(true)),
            ("off", json!(false)),
            ("NO", json!(false)),
            ("n", json!(false)),
            ("~", json!(null)),
            ("Null", json!(null)),
            ("010", json!(8)),
            ("0777", json!(511)),
            ("0x1F", json!(31)),
            ("0b11", json!(3)),
            ("1_000", json!(1000)),
            ("1:30", json!("1:30")),
            ("2024-01-01", json!("2024-01-01")),
            ("1.10", json!(1.1)),
            ("v1", json!("v1")),
            ("'yes'", json!("yes")),
            ("\"010\"", json!("010")),
            ("-1", json!(-1)),
            ("=", json!("=")),
        ];
        let wrong: Vec<String> = table
            .into_iter()
            .filter_map(|(word, wanted)| {
                let read = read(&format!("a: {word}\n")).and_then(|all| all.get("a").cloned());
                (read.as_ref() != Some(&wanted)).then(|| format!("{word}: {read:?}, not {wanted}"))
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn what_is_no_yaml_or_too_large_is_not_read() {
        assert_eq!(read("a: [1"), None);
        assert_eq!(read(&" ".repeat(LARGEST + 1)), None);
    }
}
