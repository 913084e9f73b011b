//! The lines of what `kubectl describe` prints as a tree, by their indentation.

use super::dedent::indent_of;

/// A line of the description with the lines indented below it.
pub(super) struct Entry<'a> {
    pub(super) key: &'a str,
    pub(super) value: &'a str,
    /// Line within the description.
    pub(super) at: usize,
    pub(super) below: Vec<Entry<'a>>,
}

impl<'a> Entry<'a> {
    pub(super) fn get(&self, key: &str) -> Option<&Entry<'a>> {
        get(&self.below, key)
    }

    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        text(&self.below, key)
    }
}

pub(super) fn get<'e, 'a>(entries: &'e [Entry<'a>], key: &str) -> Option<&'e Entry<'a>> {
    entries.iter().find(|entry| entry.key == key)
}

pub(super) fn text<'a>(entries: &[Entry<'a>], key: &str) -> Option<&'a str> {
    let value = get(entries, key)?.value;
    Some(value).filter(|value| !value.is_empty() && !matches!(*value, "<none>" | "<unset>"))
}

/// A probe's command that is printed as it was written, over several lines which may begin anywhere: `exec [/bin/sh -c test -f x`
/// up to the `] delay=` that ends it.
#[derive(Default)]
pub(super) struct Unfinished(bool);

impl Unfinished {
    /// Whether the line belongs to a command that began above it.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        let began = self.0;
        let ends = line.contains("] delay=");
        // A probe that was cut ends where the next part of the description begins.
        let part = || ["Conditions:", "Volumes:", "Events:"].contains(&line.trim_end());
        self.0 = match began {
            true => !ends && !part(),
            false => line.contains(": ") && line.contains(" exec [") && !ends,
        };
        began && (self.0 || ends)
    }
}

/// The lines as a tree by indentation. Deeper than any description goes is not read.
pub(super) fn tree<'a>(lines: &[&'a str], base: usize) -> Vec<Entry<'a>> {
    fn place<'a>(level: &mut Vec<(usize, Entry<'a>)>, done: &mut Vec<Entry<'a>>, indent: usize) {
        while level.last().is_some_and(|(open, _)| *open >= indent) {
            let Some((_, closed)) = level.pop() else {
                return;
            };
            match level.last_mut() {
                Some((_, parent)) => parent.below.push(closed),
                None => done.push(closed),
            }
        }
    }
    let mut done = Vec::new();
    let mut open: Vec<(usize, Entry<'a>)> = Vec::new();
    let mut command = Unfinished::default();
    for (at, line) in lines.iter().enumerate() {
        if command.takes(line) || line.trim().is_empty() {
            continue;
        }
        let indent = indent_of(line).max(base);
        place(&mut open, &mut done, indent);
        let trimmed = line.trim();
        let (key, value) = match trimmed
            .split_once(": ")
            .or_else(|| trimmed.strip_suffix(':').map(|key| (key, "")))
        {
            Some((key, value)) => (key.trim(), value.trim()),
            None => ("", trimmed),
        };
        open.push((
            indent,
            Entry {
                key,
                value,
                at,
                below: Vec::new(),
            },
        ));
    }
    place(&mut open, &mut done, 0);
    done
}

#[cfg(test)]
mod tests {
    use crate::loose::{What, pieces};

    const POD: &str = "\
Name:             web-0
Namespace:        shop
Node:             n1/10.0.0.5
Status:           Running
Init Containers:
  wait:
    Image:         busybox:1
    Command:
      sh
      -c
      until nc -z db 5432; do sleep 1; done



      echo done
    State:          Terminated
      Reason:       Completed
      Exit Code:    0
    Ready:          True
Containers:
  db:
    Image:         postgres:11
    State:          Running
    Ready:          True
    Restart Count:  0
    Readiness:      exec [/bin/sh -c -e exec pg_isready -h 127.0.0.1
[ -f /opt/initialized ] || [ -f /data/initialized ]
] delay=5s timeout=5s period=10s #success=1 #failure=6
    Environment:    <none>
  web:
    Image:         nginx:1
    State:          Running
    Ready:          True
    Restart Count:  2
Conditions:
  Type              Status
  Ready             True
Events:
  Type     Reason     Age   From     Message
  ----     ------     ----  ----     -------
  Warning  Unhealthy  48m   kubelet  Startup probe failed: connection refused
";

    #[test]
    fn a_description_goes_on_behind_commands_of_several_lines() {
        let text = format!("{POD}\n\n{}", POD.replace("web-0", "web-1"));
        let mut pods = Vec::new();
        let mut events = Vec::new();
        for piece in pieces(&text) {
            match piece.what {
                What::Object(object) if object["kind"] == "Pod" => pods.push(object),
                What::Object(object) => events.push(object),
                _ => {}
            }
        }
        assert_eq!((pods.len(), events.len()), (2, 2));
        for pod in pods {
            let status = &pod["status"];
            assert_eq!(status["initContainerStatuses"][0]["ready"], true);
            assert_eq!(status["containerStatuses"][1]["restartCount"], 2);
            assert_eq!(status["conditions"][0]["status"], "True");
        }
    }
}
