//! Edits of TOML texts that keep what they do not name as it was written: comments, order, quotes.

use crate::change::Refused;

/// Merges tables key by key into a TOML text; what is not named stays as it was written.
pub(super) fn merge_toml(path: &str, before: &str, delta: &str) -> Result<String, Refused> {
    let wrong = |what: &str, error: toml_edit::TomlError| {
        Refused::new(format!("{what} does not parse as TOML: {error}"))
    };
    let mut document: toml_edit::DocumentMut =
        before.parse().map_err(|error| wrong(path, error))?;
    let delta: toml_edit::DocumentMut =
        delta.parse().map_err(|error| wrong("the change", error))?;
    merge_table(document.as_table_mut(), delta.as_table(), None);
    Ok(document.to_string())
}

/// Adds what a TOML text lacks; what it says stays as it was written.
pub(super) fn fill_toml(path: &str, before: &str, defaults: &str) -> Result<String, Refused> {
    let parse = |text: &str| {
        text.parse::<toml_edit::DocumentMut>()
            .map_err(|error| Refused::new(format!("{path} does not parse as TOML: {error}")))
    };
    let (mut document, defaults) = (parse(before)?, parse(defaults)?);
    fill_table(document.as_table_mut(), defaults.as_table());
    Ok(document.to_string())
}

fn fill_table(into: &mut dyn toml_edit::TableLike, defaults: &dyn toml_edit::TableLike) {
    for (key, value) in defaults.iter() {
        match into.get_mut(key) {
            Some(own) => {
                if let (Some(own), Some(value)) = (own.as_table_like_mut(), value.as_table_like()) {
                    fill_table(own, value);
                }
            }
            None => drop(into.insert(key, value.clone())),
        }
    }
}

/// Takes tables and keys out of a TOML text; what is not named stays as it was written.
pub(super) fn remove_toml(path: &str, before: &str, keys: &[String]) -> Result<String, Refused> {
    if keys.is_empty() {
        return Ok(before.to_owned());
    }
    let mut document: toml_edit::DocumentMut = before
        .parse()
        .map_err(|error| Refused::new(format!("{path} does not parse as TOML: {error}")))?;
    for key in keys {
        let parts = toml_edit::Key::parse(key)
            .map_err(|error| Refused::new(format!("{key:?} is no dotted key: {error}")))?;
        let missing = || Refused::new(format!("{path} holds no {key}"));
        let (last, parents) = parts.split_last().ok_or_else(missing)?;
        let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
        for part in parents {
            let next = table
                .get_mut(part.get())
                .and_then(toml_edit::Item::as_table_like_mut);
            table = next.ok_or_else(missing)?;
        }
        table.remove(last.get()).ok_or_else(missing)?;
    }
    Ok(document.to_string())
}

/// `beside` is the place of what the table is part of: tables that come new to it stand there, not at the end of the file.
fn merge_table(
    into: &mut dyn toml_edit::TableLike,
    delta: &dyn toml_edit::TableLike,
    beside: Option<isize>,
) {
    for (key, value) in delta.iter() {
        match into.get_mut(key) {
            Some(old) if value.is_table_like() && old.is_table_like() => {
                let place = first_place(old).or(beside);
                if let toml_edit::Item::Table(table) = &mut *old
                    && table.position().is_none()
                {
                    table.set_position(place);
                }
                if let (Some(old), Some(new)) = (old.as_table_like_mut(), value.as_table_like()) {
                    merge_table(old, new, place);
                }
            }
            Some(old) => *old = value.clone(),
            None => {
                let mut value = value.clone();
                set_place(&mut value, beside);
                into.insert(key, value);
            }
        }
    }
}

/// Where the first table of an item stands that is written out: its own header, or one of those below it.
fn first_place(item: &toml_edit::Item) -> Option<isize> {
    let of = |table: &toml_edit::Table| {
        let below = table.iter().filter_map(|(_, one)| first_place(one)).min();
        table.position().filter(|_| !table.is_implicit()).or(below)
    };
    match item {
        toml_edit::Item::Table(table) => of(table),
        toml_edit::Item::ArrayOfTables(all) => all.iter().filter_map(of).min(),
        _ => None,
    }
}

/// Tables of another text have their places there.
fn set_place(item: &mut toml_edit::Item, place: Option<isize>) {
    let of = |table: &mut toml_edit::Table| {
        table.set_position(place);
        let all = table.iter_mut();
        all.for_each(|(_, one)| set_place(one, place));
    };
    match item {
        toml_edit::Item::Table(table) => of(table),
        toml_edit::Item::ArrayOfTables(all) => all.iter_mut().for_each(of),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_comments_and_order_and_adds_only_what_is_named() {
        let before = "# the site's own\nversion = 2\n\n[plugins.cri] # keep\n  a = 1\n";
        let after = merge_toml(
            "/f",
            before,
            "[plugins.cri]\na = 2\n[plugins.cri.x]\nb = true\n",
        );
        let after = after.unwrap();
        assert!(
            after.starts_with("# the site's own\nversion = 2\n"),
            "{after}"
        );
        assert!(after.contains("[plugins.cri] # keep\n"), "{after}");
        let value: toml::Table = toml::from_str(&after).unwrap();
        assert_eq!(value["plugins"]["cri"]["a"].as_integer(), Some(2));
        assert_eq!(value["plugins"]["cri"]["x"]["b"].as_bool(), Some(true));
    }

    #[test]
    fn removing_a_table_keeps_the_rest_as_it_was_written() {
        let before = "# ours\nversion = 3\n[plugins.'a.b'.registry]\n  config_path = \"/x\" # dir\n[plugins.'a.b'.registry.mirrors.\"m\"]\nendpoint = []\n";
        let after = remove_toml("/f", before, &["plugins.\"a.b\".registry.mirrors".into()]);
        assert_eq!(
            after.unwrap(),
            "# ours\nversion = 3\n[plugins.'a.b'.registry]\n  config_path = \"/x\" # dir\n"
        );
        let error = remove_toml("/f", before, &["plugins.none".into()]).unwrap_err();
        assert!(error.why.contains("/f holds no plugins.none"), "{error}");
    }

    #[test]
    fn a_table_that_comes_new_stands_beside_what_it_belongs_to() {
        let before = "version = 2\n[plugins.a.mirrors.m]\nendpoint = []\n\n[debug]\nlevel = 1\n";
        let after = merge_toml(
            "/f",
            before,
            "[plugins.a]\npath = 1\n[plugins.a.b]\nc = 2\n",
        );
        assert_eq!(
            after.unwrap(),
            "version = 2\n\n[plugins.a]\npath = 1\n[plugins.a.mirrors.m]\nendpoint = []\n[plugins.a.b]\nc = 2\n\n[debug]\nlevel = 1\n"
        );
    }

    #[test]
    fn a_change_that_does_not_parse_is_named() {
        let error = merge_toml("/f", "a = 1", "b = = 2").unwrap_err();
        assert!(error.why.contains("the change does not parse"), "{error}");
    }
}
