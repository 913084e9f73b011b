//! Changes that want two things of one setting.

use std::collections::BTreeMap;

use super::proposal::Origin;
use crate::change::{Change, Refused};
use crate::facts::excerpt;

/// Bytes of a value that are shown.
const SHOWN: usize = 60;

/// Refuses changes of which one takes back what another sets.
pub(super) fn check(changes: &[(Change, Origin)]) -> Result<(), Refused> {
    let mut known: BTreeMap<String, (String, &Origin)> = BTreeMap::new();
    for (change, origin) in changes {
        for (setting, value) in change.kind().sets() {
            match known.get(&setting) {
                Some((other, first)) if *other != value => {
                    let (here, there) = (excerpt(&value, SHOWN), excerpt(other, SHOWN));
                    return Err(Refused::new(format!(
                        "{origin}: contradicts {first}: {setting} is to be {here} here and {there} there"
                    )));
                }
                _ => drop(known.insert(setting, (value, origin))),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn refused(changes: [Value; 2]) -> Option<String> {
        let origin = |line| Origin {
            file: "p.yaml".to_owned(),
            line,
        };
        let read = |(line, one)| (serde_json::from_value(one).unwrap(), origin(line));
        let changes: Vec<(Change, Origin)> = (1..).zip(changes).map(read).collect();
        check(&changes).err().map(|refused| refused.to_string())
    }

    #[test]
    fn two_values_of_one_setting_are_refused_and_of_two_settings_taken() {
        let label = |namespace: &str, value: &str| {
            json!({ "label": {
                "kind": "Pod", "namespace": namespace, "name": "web-0", "key": "team", "value": value
            } })
        };
        let said = refused([label("shop", "a"), label("shop", "b")]).unwrap();
        assert!(
            said.ends_with("label team of Pod shop/web-0 is to be b here and a there"),
            "{said}"
        );
        assert_eq!(refused([label("shop", "a"), label("shop", "a")]), None);
        assert_eq!(refused([label("shop", "a"), label("bank", "b")]), None);
        let file = |content: &str| json!({ "host-file": { "node": "n1", "path": "/etc/a", "content": content } });
        let long = "x".repeat(80);
        let said = refused([file(&long), file(&format!("{long}y"))]);
        assert!(said.is_some(), "they differ behind what is shown");
    }
}
