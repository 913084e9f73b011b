//! Effective helm values: a chart's defaults under what the user set, merged by helm's own rules.

use serde_json::{Map, Value};

use super::helm_release::{Chart, MAX_CHARTS, Values};

type Table = Map<String, Value>;

/// The user's values as a table.
pub fn user(values: &Values) -> Result<Value, serde_json::Error> {
    serde_json::from_str(values.user.get())
}

/// The values that the templates saw, as `helm get values --all` gives them.
pub fn all(values: &Values) -> Result<Value, serde_json::Error> {
    let mut table = table(user(values)?);
    coalesce(&values.chart, &mut table, 0)?;
    Ok(Value::Object(table))
}

fn table(value: Value) -> Table {
    match value {
        Value::Object(table) => table,
        _ => Table::new(),
    }
}

fn coalesce(chart: &Chart, set: &mut Table, depth: usize) -> Result<(), serde_json::Error> {
    let defaults = match &chart.values {
        Some(values) => table(serde_json::from_str(values.get())?),
        None => Table::new(),
    };
    let parts = chart.dependencies.as_deref().unwrap_or_default();
    under(set, defaults, |key| {
        parts.iter().any(|part| name(part) == key)
    });
    if depth >= MAX_CHARTS {
        return Ok(());
    }
    for part in parts {
        let globals = set.get("global").and_then(Value::as_object).cloned();
        let entry = set
            .entry(name(part))
            .or_insert_with(|| Value::Object(Table::new()));
        // Helm refuses a sub-chart's values that are no table; here they are shown as they are.
        let Value::Object(own) = entry else { continue };
        if let Some(globals) = globals {
            pass_globals(own, &globals);
        }
        coalesce(part, own, depth + 1)?;
    }
    Ok(())
}

fn name(chart: &Chart) -> &str {
    chart
        .metadata
        .as_ref()
        .map_or("", |meta| meta.name.as_str())
}

/// Puts a chart's defaults under what is set. A null that is set removes the key; within a sub-chart's table it
/// stays, so that it still removes the sub-chart's own default later.
fn under(set: &mut Table, defaults: Table, is_part: impl Fn(&str) -> bool) {
    for (key, default) in defaults {
        let part = is_part(&key);
        match set.get_mut(&key) {
            None => {
                set.insert(key, default);
            }
            Some(Value::Null) => {
                set.remove(&key);
            }
            Some(Value::Object(own)) => {
                if let Value::Object(default) = default {
                    under_table(own, default, part);
                }
            }
            Some(_) => {}
        }
    }
}

/// As helm's `coalesceTables`. JSON's own depth limit bounds the recursion.
fn under_table(own: &mut Table, defaults: Table, keep_nulls: bool) {
    for (key, default) in defaults {
        match own.get_mut(&key) {
            None => {
                own.insert(key, default);
            }
            Some(Value::Null) if !keep_nulls => {
                own.remove(&key);
            }
            Some(Value::Object(inner)) => {
                if let Value::Object(default) = default {
                    under_table(inner, default, keep_nulls);
                }
            }
            Some(_) => {}
        }
    }
    if !keep_nulls {
        // Helm copies own nulls into the defaults first, so that those without a default go too.
        own.retain(|_, value| !value.is_null());
    }
}

/// `global` goes down into every sub-chart; the parent's globals win.
fn pass_globals(own: &mut Table, globals: &Table) {
    let entry = own
        .entry("global")
        .or_insert_with(|| Value::Object(Table::new()));
    let Value::Object(theirs) = entry else { return };
    for (key, value) in globals {
        match (theirs.get_mut(key), value) {
            (Some(Value::Object(mine)), Value::Object(from_parent)) => {
                let below = std::mem::replace(mine, from_parent.clone());
                under_table(mine, below, true);
            }
            _ => {
                theirs.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cluster::helm_release::{Driver, decode, tests::stored};

    fn computed(chart: &Value, config: &Value) -> Value {
        let release = json!({"name": "r", "version": 1, "chart": chart, "config": config});
        let revision = decode(&stored(&release, Driver::Secret), Driver::Secret)
            .unwrap()
            .unwrap();
        all(&revision.values.unwrap()).unwrap()
    }

    #[test]
    fn what_the_user_set_wins_tables_merge_and_lists_are_replaced() {
        let chart = json!({"values": {"a": {"b": 1, "c": [1, 2], "d": {"e": true}}, "f": "x"}});
        let config = json!({"a": {"c": [3], "d": {"g": 0}}, "h": 7});
        assert_eq!(
            computed(&chart, &config),
            json!({"a": {"b": 1, "c": [3], "d": {"e": true, "g": 0}}, "f": "x", "h": 7})
        );
    }

    #[test]
    fn a_null_removes_a_default_at_any_depth() {
        let chart = json!({"values": {"a": 1, "t": {"b": 1, "c": {"d": 1}}}});
        let config = json!({"a": null, "t": {"c": null, "x": null}, "top": null});
        assert_eq!(
            computed(&chart, &config),
            json!({"t": {"b": 1}, "top": null})
        );
    }

    #[test]
    fn a_value_of_another_type_than_the_default_is_left_as_the_user_set_it() {
        let chart = json!({"values": {"a": {"b": 1}, "c": 1, "n": null}});
        let config = json!({"a": "text", "c": {"d": 1}, "n": {"m": 1}});
        assert_eq!(computed(&chart, &config), config);
    }

    #[test]
    fn sub_charts_get_their_defaults_and_the_globals_of_their_parent() {
        let chart = json!({"values": {"global": {"zone": "a"}, "sub": {"x": 1}},
            "dependencies": [{"metadata": {"name": "sub"}, "values": {"x": 2, "y": {"k": 1, "l": 2}, "z": 3, "global": {"own": 1}}}]});
        let config = json!({"global": {"zone": "b"}, "sub": {"z": null, "y": {"k": null}}});
        assert_eq!(
            computed(&chart, &config),
            json!({"global": {"zone": "b"}, "sub": {"x": 1, "y": {"l": 2}, "global": {"own": 1, "zone": "b"}}})
        );
    }

    #[test]
    fn a_release_without_values_has_an_empty_table() {
        assert_eq!(computed(&json!({"values": null}), &json!(null)), json!({}));
    }

    /// A null and a key that is not there are one to a template. Which of both is shown differs between versions of
    /// Helm: since 4.2.0 nulls of a chart's defaults are left out (helm/helm#32530).
    fn without_nulls(value: &Value) -> Value {
        let Value::Object(table) = value else {
            return value.clone();
        };
        let kept = table.iter().filter(|(_, value)| !value.is_null());
        Value::Object(
            kept.map(|(key, value)| (key.clone(), without_nulls(value)))
                .collect(),
        )
    }

    /// `tests/lab/helm-trees COUNT SEED > FILE` writes releases as Helm's own library stores them, over charts with
    /// sub-charts, aliases, imports, nulls and upgrades that reuse values, and what it says of them.
    #[test]
    fn as_helm_itself_merges_what_it_stored() {
        let Some(path) = std::env::var_os("CASEFILE_HELM_TREES") else {
            eprintln!(
                "skipped: as_helm_itself_merges_what_it_stored: CASEFILE_HELM_TREES names no file of tests/lab/helm-trees"
            );
            return;
        };
        let lines = std::fs::read_to_string(path).unwrap();
        let (mut count, mut unread) = (0, 0);
        let mut wrong = Vec::new();
        for line in lines.lines() {
            let tree: Value = serde_json::from_str(line).unwrap();
            let secret = tree["secret"].to_string();
            let revision = decode(secret.as_bytes(), Driver::Secret).unwrap().unwrap();
            let values = revision.values.unwrap();
            count += 1;
            let computed = all(&values).unwrap();
            if without_nulls(&computed) != without_nulls(&tree["all"])
                || user(&values).unwrap() != tree["user"]
            {
                wrong.push(format!(
                    "seed {}: ours {} helm's {} user {} chart {}",
                    tree["seed"],
                    all(&values).unwrap(),
                    tree["all"],
                    values.user.get(),
                    values.chart.values.as_ref().unwrap().get()
                ));
            }
            unread += revision.unread.len();
            let inert = tree["inert"].as_array().unwrap();
            for path in revision.unread {
                if !inert.contains(&Value::from(path.clone())) {
                    wrong.push(format!("seed {}: {path} is read", tree["seed"]));
                }
            }
        }
        println!(
            "{count} releases, {unread} values that nobody reads, {} differ",
            wrong.len()
        );
        assert!(count > 0 && wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
