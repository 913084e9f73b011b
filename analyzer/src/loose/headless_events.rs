//! Rows of `kubectl get events` without their headings: what a watch prints after its first table, `--no-headers`, or what
//! `grep` left.

use regex::Captures;

use super::age::seconds;
use super::split::Section;
use super::tables::{About, event_object, namespace_of};
use super::{Taken, What};
use crate::form::Form;

/// Of the columns that kubectl prints since 1.15, and of those before: there an event is called by its object and a number.
static ROW: [Form; 2] = [
    Form::made(|| {
        format!(
            r"^\s*(?:(?P<namespace>[a-z0-9][a-z0-9-]*)\s+)?(?P<last>{AGE})\s+{KIND}\s+(?P<kind>[a-z]+)/(?P<name>[a-z0-9][\w.-]*)\s+(?P<message>\S.*)$"
        )
    }),
    Form::made(|| {
        format!(
            r"^\s*(?:(?P<namespace>[a-z0-9][a-z0-9-]*)\s+)?(?P<last>{AGE})\s+{AGE}\s+(?P<count>\d+)\s+(?P<name>[a-z0-9][\w.-]*)\.[0-9a-f]{{12,16}}\s+(?P<kind>[A-Z]\w+)\s+(?:\S+\s+)?{KIND}\s+[^\s,]+(?:, \S+)?\s+(?P<message>\S.*)$"
        )
    }),
];
const AGE: &str = r"(?:\d+[smhdy])+";
/// What [`KIND`] takes for the type of an event.
const KINDS: [&str; 2] = ["Normal", "Warning"];
const KIND: &str = r"(?P<type>Normal|Warning)\s+(?P<reason>[A-Z]\w+)";
/// The headings of a table of events.
const HEADS: [&str; 3] = ["LAST SEEN", "LASTSEEN", "FIRSTSEEN"];
/// Rows that speak for themselves where no heading stands above.
const ROWS: usize = 2;

fn row(line: &str) -> Option<Captures<'_>> {
    const LONGEST: usize = 4000;
    let names_kind = |kind: &&str| memchr::memmem::find(line.as_bytes(), kind.as_bytes()).is_some();
    let may_be = line.len() < LONGEST && KINDS.iter().any(names_kind);
    let mut forms = ROW.iter().filter(|_| may_be);
    forms.find_map(|form| form.rare_captures(line))
}

/// Takes rows that follow one another.
pub(super) fn take(section: &Section<'_>, at: usize) -> Taken {
    if row(section.line(at)).is_none() {
        return Taken::No;
    }
    let lines = section.run(at, |line| row(line).is_some());
    let headed = || {
        let above = section.range(0, at);
        above
            .iter()
            .any(|line| HEADS.iter().any(|head| line.contains(head)))
    };
    if lines < ROWS && !headed() {
        return Taken::No;
    }
    let mut found = Vec::new();
    for offset in 0..lines {
        let Some(cells) = row(section.line(at + offset)) else {
            continue;
        };
        let cell = |name: &str| cells.name(name).map_or("", |one| one.as_str());
        let namespace = match cell("namespace") {
            "" => namespace_of(section),
            named => named,
        };
        let about = About {
            kind: cell("kind"),
            namespace,
            name: cell("name"),
        };
        let times = cell("count").parse().unwrap_or(1);
        let seen = (times, seconds(cell("last")));
        let object = event_object(&about, cell("type"), cell("reason"), cell("message"), seen);
        found.extend(object.map(|object| (What::Object(object), offset)));
    }
    match found.is_empty() {
        true => Taken::No,
        false => Taken::Found(found, lines),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_both_times_are_read_without_their_headings() {
        let new =
            row("2m          Warning   FailedScheduling   pod/web-1   0/2 nodes are available: x")
                .unwrap();
        assert_eq!(
            (&new["kind"], &new["name"], &new["last"]),
            ("pod", "web-1", "2m")
        );
        let old = row("53m       54m       6         pg.1550f2acd5b89bb9            PersistentVolumeClaim                                 Normal    FailedBinding                    persistentvolume-controller   no persistent volumes available").unwrap();
        assert_eq!(&old["message"], "no persistent volumes available");
        assert_eq!(
            (&old["kind"], &old["name"], &old["count"]),
            ("PersistentVolumeClaim", "pg", "6")
        );
        let of_pod = row("shop   41m   41m   3   web.1550f35fdd7a15a0   Pod   spec.containers{web}   Warning   Unhealthy   kubelet, node-1   Liveness probe failed").unwrap();
        assert_eq!(
            (&of_pod["namespace"], &of_pod["message"]),
            ("shop", "Liveness probe failed")
        );
        assert!(row("2m Warning everything is fine").is_none());
        assert!(row("web-1   1/1   Running   0   2m").is_none());
    }
}
