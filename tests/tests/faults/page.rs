//! `docs/evidence.md` against the programs: sources, commands, facts and rows that it names are there.

use casefile_analyzer::facts::KINDS;
use casefile_collector::exec::COMMANDS;
use casefile_collector::sources::SOURCES;
use casefile_tests::bins;

/// Words between backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Rows of the table below this heading, cell by cell.
fn table<'a>(page: &'a str, head: &str) -> Vec<Vec<&'a str>> {
    let below = page.lines().skip_while(|line| !line.starts_with(head));
    let rows = below.skip(2).take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<&str>> = rows
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() > 5, "no table {head}");
    rows
}

/// `{a,b}-smi*.out` as its members.
fn members(name: &str) -> Vec<String> {
    let Some((before, rest)) = name.split_once('{') else {
        return vec![name.to_owned()];
    };
    let (list, after) = rest.split_once('}').unwrap();
    list.split(',')
        .map(|one| format!("{before}{one}{after}"))
        .collect()
}

fn is_command(name: &str) -> bool {
    let (before, after) = name.split_once('*').unwrap_or((name, ""));
    COMMANDS.iter().any(|spec| {
        let file = spec
            .file
            .map_or_else(|| format!("{}.out", spec.id), str::to_owned);
        match name.contains('*') {
            true => file.starts_with(before) && file.ends_with(after),
            false => file == name,
        }
    })
}

#[test]
fn the_page_of_evidence_names_sources_commands_facts_and_rows_that_are_there() {
    let page = std::fs::read_to_string(bins::checkout().join("docs/evidence.md")).unwrap();
    let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.kind).collect();
    let mut commands = 0;
    for row in table(&page, "| what | source |") {
        let [what, sources, entries, facts, _recorded] = row.as_slice() else {
            panic!("{row:?}");
        };
        let ids: Vec<&str> = quoted(sources)
            .into_iter()
            .filter(|id| !id.starts_with("--"))
            .collect();
        for id in &ids {
            assert!(
                SOURCES.iter().any(|source| source.id == *id),
                "{what}: {id}"
            );
        }
        for fact in quoted(facts) {
            assert!(kinds.contains(&fact), "{what}: {fact}");
        }
        // What the API server and Docker's own daemon answer is no command's output.
        let printed = quoted(entries)
            .into_iter()
            .filter_map(|entry| {
                entry
                    .strip_prefix("commands/")
                    .or_else(|| entry.strip_prefix('-'))
            })
            .filter(|_| !ids.contains(&"node_proxy"));
        for name in printed.flat_map(members) {
            // A cell that goes on with "-vgpu.out" means the same beginning.
            let found = is_command(&name) || is_command(&format!("nvidia-smi-{name}"));
            assert!(
                found || is_command(&format!("dcgmi-{name}")),
                "{what}: {name}"
            );
            commands += 1;
        }
    }
    assert!(commands > 15, "{commands}");
    let rows: Vec<&str> = crate::all_rows().iter().map(|row| row.fault).collect();
    for row in table(&page, "| fault on real sites |") {
        let named = quoted(row[1]);
        assert!(!named.is_empty(), "{row:?}");
        for name in named {
            assert!(rows.contains(&name), "no row {name:?}");
        }
    }
}
