//! The answers of a real API server (`../shared/recordings/tables`) beside ours, made from the same objects.
//!
//! Lists are what the store is filled from; tables, pages, selectors, single objects and watches are compared byte for byte.
//! Left aside: ages, which a server tells as of the moment of each answer (here: that moment is used), and the sentences that
//! describe columns, which are not ours to repeat.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use casefile_serve::{Ask, Builder, Store, answer};
use chrono::{DateTime, Utc};

use crate::common::{Recorded, fill, folder, is_source, kind_files, read};

/// Ages are told from the time of each answer, so that each needs its own clock.
fn store_at(all: &[&Recorded], time: &str, only: &str) -> Arc<Store> {
    let mut builder = Builder::new("a recording");
    let wanted =
        |one: &&&Recorded| only == one.path || one.path.ends_with("/customresourcedefinitions");
    for one in all.iter().filter(wanted) {
        fill(&mut builder, &one.path, one.body.as_ref().unwrap());
    }
    let now: DateTime<Utc> = time.parse().unwrap();
    Arc::new(builder.finish(now, None))
}

/// Blanks what is left aside: sentences about columns, and the revision that the whole server had.
fn comparable(body: &str) -> String {
    let mut out = String::new();
    let mut rest = body;
    let mark = "\"description\":\"";
    if body.contains("\"columnDefinitions\":[") {
        while let Some(at) = rest.find(mark) {
            // Descriptions stand before the rows.
            if rest.find("\"rows\":").is_some_and(|rows| rows < at) {
                break;
            }
            out.push_str(&rest[..at + mark.len()]);
            rest = &rest[at + mark.len()..];
            let mut escaped = false;
            let end = rest.find(|c: char| {
                let end = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                end
            });
            rest = &rest[end.unwrap()..];
        }
    }
    out.push_str(rest);
    out
}

/// A kind's list path for a path below it.
fn list_path(path: &str) -> String {
    let path = path.split('?').next().unwrap();
    let mut parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let root = if parts[0] == "api" { 2 } else { 3 };
    if parts.get(root) == Some(&"namespaces") && parts.len() > root + 2 {
        parts.drain(root..root + 2);
    }
    parts.truncate(root + 1);
    format!("/{}", parts.join("/"))
}

/// Compared and different, of one kind.
#[derive(Default)]
struct Count {
    same: usize,
    differ: Vec<String>,
}

fn compare(files: &[PathBuf], chosen: impl Fn(&Recorded) -> bool) -> BTreeMap<String, Count> {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let base: Vec<Recorded> = files.iter().flat_map(|file| read(file)).collect();
    let sources: Vec<&Recorded> = base.iter().filter(|one| is_source(one)).collect();
    for one in &base {
        let (Some(body), true) = (&one.body, one.request_headers.is_none()) else {
            continue;
        };
        let list = list_path(&one.path);
        // The server asks components all at once and lists them as they answer: in another order each time.
        let in_any_order = one.path.split('?').next() == Some("/api/v1/componentstatuses");
        if !chosen(one) || in_any_order {
            continue;
        }
        if !sources.iter().any(|source| source.path == list) {
            continue;
        }
        let store = store_at(&sources, &one.time, &list);
        let (path, query) = one.path.split_once('?').unwrap_or((&one.path, ""));
        let ask = Ask {
            method: one.method.clone().unwrap_or_else(|| "GET".to_owned()),
            path: path.to_owned(),
            query: query.to_owned(),
            accept: one.accept.clone(),
            ..Ask::default()
        };
        let answered = answer(&store, &ask);
        let code = answered.code;
        let ours = String::from_utf8(answered.collect()).unwrap();
        let count = counts.entry(list).or_default();
        let (ours, theirs) = (comparable(&ours), comparable(body));
        if code == one.status && ours == theirs {
            count.same += 1;
        } else {
            let at = ours.bytes().zip(theirs.bytes()).position(|(a, b)| a != b);
            let at = at
                .unwrap_or(ours.len().min(theirs.len()))
                .saturating_sub(80);
            let shown = |text: &str| {
                String::from_utf8_lossy(
                    &text.as_bytes()[at.min(text.len())..text.len().min(at + 260)],
                )
                .into_owned()
            };
            count.differ.push(format!(
                "{} [{}] {} for {}\n   ours   {}\n   theirs {}",
                one.path,
                one.accept.get(..40.min(one.accept.len())).unwrap(),
                code,
                one.status,
                shown(&ours),
                shown(&theirs)
            ));
        }
    }
    counts
}

fn report(title: &str, counts: &BTreeMap<String, Count>) -> usize {
    let same: usize = counts.values().map(|count| count.same).sum();
    let differ: usize = counts.values().map(|count| count.differ.len()).sum();
    println!(
        "{title}: {same} of {} answers equal, {} kinds",
        same + differ,
        counts.len()
    );
    for (kind, count) in counts {
        for text in count.differ.iter().take(2) {
            println!(" {kind}: {} differ; {text}", count.differ.len());
        }
    }
    differ
}

/// Halves of the kinds: one to look at, one to count only.
fn is_seen(path: &str) -> bool {
    let plural = list_path(path);
    let plural = plural.rsplit('/').next().unwrap();
    plural.bytes().fold(7_u32, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(u32::from(byte))
    }) % 2
        == 0
}

fn both(title: &str, chosen: impl Fn(&Recorded) -> bool) -> usize {
    let Some(folder) = folder() else {
        return 0;
    };
    let files = kind_files(&folder);
    let seen = compare(&files, |one| chosen(one) && is_seen(&one.path));
    let unseen = compare(&files, |one| chosen(one) && !is_seen(&one.path));
    let count = |counts: &BTreeMap<String, Count>| {
        let same: usize = counts.values().map(|count| count.same).sum();
        let all = same
            + counts
                .values()
                .map(|count| count.differ.len())
                .sum::<usize>();
        (same, all)
    };
    let (same, all) = count(&unseen);
    println!(
        "{title}, unseen half: {same} of {all} answers equal, {} kinds",
        unseen.len()
    );
    if std::env::var_os("CASEFILE_SHOW_UNSEEN").is_some() {
        report(title, &unseen);
    }
    report(&format!("{title}, seen half"), &seen)
}

fn is_table(one: &Recorded) -> bool {
    one.accept.contains("as=Table")
}

fn is_error(one: &Recorded) -> bool {
    one.status >= 400
}

#[test]
fn tables_are_those_of_a_real_server() {
    let differ = both("tables", |one| is_table(one) && !is_error(one));
    assert_eq!(differ, 0);
}

#[test]
fn lists_objects_pages_and_selectors_are_those_of_a_real_server() {
    let differ = both("lists", |one| !is_table(one) && !is_error(one));
    assert_eq!(differ, 0);
}

#[test]
fn refusals_are_those_of_a_real_server() {
    let differ = both("refusals", is_error);
    assert_eq!(differ, 0);
}
