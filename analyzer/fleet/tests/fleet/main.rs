//! Shards, inboxes and tables with a stand-in for the analyzer: a shell script that answers as a worker does.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of a test stop it where they cannot go on"
)]

mod desk;
mod questions;
mod shards;
mod tables;
mod together;

use std::path::Path;
use std::time::Duration;

use casefile_fleet::worker::{Limits, Program};

/// Answers by the first word of the bundle: `broken` is refused, `hiccup` fails unless a file `well` lies beside it,
/// `slow` takes a while, all others are analysed; the node is the second word.
const SCRIPT: &str = r#"
while read line; do
  path=$(printf %s "$line" | sed 's/.*"path":"\([^"]*\)".*/\1/')
  read word node driver < "$path"
  case $word in
    broken) echo '{"refused":"the archive is cut in its header"}';;
    hiccup) if [ -e "$(dirname "$path")/.well" ]; then word=good; else echo '{"failed":"No space left on device"}'; continue; fi;;
    slow) sleep 30;;
  esac
  case $word in broken) continue;; esac
  printf '{"analysed":{"report":{"title":"t","tool":"casefile-analyzer 0.1.0","input":{"node":"%s","finished":"2026-11-20T10:00:00Z"},"incidents":[' "$node"
  [ "$word" = sick ] && printf '{"cause":{"id":"gpu-fallen-off-bus","title":"GPU fell off the bus on %s"},"verdict":"confirmed","severity":"high","subjects":["node/%s"],"evidence":[{"role":"for","says":"GPU fell off the bus on %s","path":"p","line":1,"text":"Xid 79","count":1}]}' "$node" "$node" "$node"
  printf ']},"cluster":"c1","said":[],"settings":[{"scope":"node","kind":"version","name":"driver","value":"%s"}]}}\n' "$driver"
done
"#;

fn program() -> Program {
    Program {
        path: "/bin/sh".into(),
        args: vec!["-c".to_owned(), SCRIPT.to_owned()],
    }
}

fn limits() -> Limits {
    Limits {
        time: Duration::from_secs(20),
        memory: 1 << 30,
    }
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

/// A fleet of bundles, every tenth sick, one of them broken.
fn fleet(folder: &Path, count: usize) {
    for number in 0..count {
        let word = match number {
            7 => "broken",
            _ if number % 10 == 3 => "sick",
            _ => "good",
        };
        let driver = number % 3;
        let text = format!("{word} gpu-{number} 570.{driver}\n");
        write(folder, &format!("casefile-gpu-{number}.tar.gz"), &text);
    }
}
