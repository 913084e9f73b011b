//! What a ticket does to evidence: other names, orders, encodings, prefixes; cut, and on one line.

use crate::{Files, Verdicts, analyze, analyzer, cases, confirmed, verdicts};

fn each_line(files: &Files, change: impl Fn(usize, &str) -> String) -> Files {
    let changed = files.iter().map(|(name, text)| {
        let text = String::from_utf8_lossy(text).into_owned();
        let lines = text
            .lines()
            .enumerate()
            .map(|(number, line)| change(number, line));
        (name.clone(), lines.collect::<String>().into_bytes())
    });
    changed.collect()
}

/// A change of the evidence, and whether it leaves the meaning as it was.
type Change = (&'static str, bool, fn(&Files) -> Files);

fn renamed(files: &Files) -> Files {
    let names = (0..files.len())
        .rev()
        .map(|number| format!("paste-{number:02}"));
    names.zip(files.values().cloned()).collect()
}

fn duplicated(files: &Files) -> Files {
    let again = files
        .iter()
        .map(|(name, text)| (format!("again-{name}"), text.clone()));
    again.chain(files.clone()).collect()
}

fn joined(files: &Files) -> Files {
    let mut all = Vec::new();
    for text in files.values() {
        all.extend_from_slice(text);
        all.extend_from_slice(b"\n\n");
    }
    Files::from([("ticket".to_owned(), all)])
}

fn reversed(files: &Files) -> Files {
    let turn = files.iter().map(|(name, text)| {
        let text = String::from_utf8_lossy(text).into_owned();
        let lines: Vec<&str> = text.lines().rev().collect();
        (name.clone(), lines.join("\n").into_bytes())
    });
    turn.collect()
}

fn cut(files: &Files, numerator: usize, denominator: usize) -> Files {
    let cut = files.iter().map(|(name, text)| {
        let end = text.len() * numerator / denominator;
        (name.clone(), text[..end].to_vec())
    });
    cut.collect()
}

fn utf16(files: &Files) -> Files {
    let wide = files.iter().map(|(name, text)| {
        let text = String::from_utf8_lossy(text);
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        (name.clone(), units.flat_map(u16::to_le_bytes).collect())
    });
    wide.collect()
}

static CHANGES: &[Change] = &[
    ("other names and order of files", true, renamed),
    ("every file twice", true, duplicated),
    ("CRLF", true, |files| {
        each_line(files, |_, line| format!("{line}\r\n"))
    }),
    ("colour codes", true, |files| {
        each_line(files, |_, line| match line.char_indices().nth(9) {
            Some((at, _)) => format!("{}\x1b[01;31m\x1b[K{}\x1b[0m\n", &line[..at], &line[at..]),
            None => format!("{line}\n"),
        })
    }),
    ("UTF-16, as PowerShell writes it", true, utf16),
    ("all in one file", false, joined),
    ("lines in reverse order", false, reversed),
    ("cut at a quarter", false, |files| cut(files, 1, 4)),
    ("cut at the half", false, |files| cut(files, 1, 2)),
    ("cut at nine tenths", false, |files| cut(files, 9, 10)),
    ("RFC 3339 in front", false, |files| {
        each_line(files, |number, line| {
            format!("2026-11-20T10:00:{:02}.123456789Z {line}\n", number % 60)
        })
    }),
    ("CRI in front", false, |files| {
        each_line(files, |number, line| {
            format!(
                "2026-11-20T10:00:{:02}.123456789+01:00 stderr F {line}\n",
                number % 60
            )
        })
    }),
    ("journal in front", false, |files| {
        each_line(files, |number, line| {
            format!(
                "Nov 20 10:00:{:02} gpu-1 kubelet[{number}]: {line}\n",
                number % 60
            )
        })
    }),
    ("German journal in front", false, |files| {
        each_line(files, |number, line| {
            format!(
                "M\u{e4}r 20 10:00:{:02} gpu-1 kubelet[7]: {line}\n",
                number % 60
            )
        })
    }),
    ("epoch and host in front", false, |files| {
        each_line(files, |number, line| {
            format!("17951688{:02}.123456 gpu-1 kernel: {line}\n", number % 60)
        })
    }),
    ("epoch micros in front", false, |files| {
        each_line(files, |number, line| {
            format!("17951688{:02}123456 {line}\n", number % 60)
        })
    }),
    ("ISO of dmesg in front", false, |files| {
        each_line(files, |number, line| {
            format!("2026-11-20T10:00:{:02},123456+09:00 {line}\n", number % 60)
        })
    }),
    ("French journal in front", false, |files| {
        each_line(files, |number, line| {
            format!(
                "f\u{e9}vr. 20 10:00:{:02} gpu-1 kubelet[7]: {line}\n",
                number % 60
            )
        })
    }),
    ("Japanese or Chinese journal in front", false, |files| {
        each_line(files, |number, line| {
            format!(
                "11\u{6708} 20 10:00:{:02} gpu-1 kubelet[7]: {line}\n",
                number % 60
            )
        })
    }),
    ("Chinese date in front", false, |files| {
        each_line(files, |number, line| {
            format!(
                "2026\u{5e74} 11\u{6708} 20\u{65e5} \u{661f}\u{671f}\u{4e94} 10:00:{:02} CST {line}\n",
                number % 60
            )
        })
    }),
    ("twelve hours in front", false, |files| {
        each_line(files, |number, line| {
            format!("11/20/2026 10:00:{:02} PM {line}\n", number % 60)
        })
    }),
    ("klog in front", false, |files| {
        each_line(files, |number, line| {
            format!(
                "E1120 10:00:{:02}.123456    1234 server.go:{number}] {line}\n",
                number % 60
            )
        })
    }),
    ("kernel time in front", false, |files| {
        each_line(files, |number, line| {
            format!("[{number:>6}.123456] {line}\n")
        })
    }),
    ("quoted with > in front", false, |files| {
        each_line(files, |_, line| format!("> {line}\n"))
    }),
    ("indented", false, |files| {
        each_line(files, |_, line| format!("    {line}\n"))
    }),
];

#[test]
fn other_clothes_do_not_make_a_false_confirmation() {
    let cases = cases("other_clothes_do_not_make_a_false_confirmation");
    let analyzer = analyzer();
    let plain: Vec<Verdicts> = cases
        .iter()
        .map(|case| verdicts(&analyze(&analyzer, &case.files)))
        .collect();
    let mut wrong = Vec::new();
    for (name, keeps_meaning, change) in CHANGES {
        let (mut same, mut found) = (0, 0);
        for (case, before) in cases.iter().zip(&plain) {
            let after = verdicts(&analyze(&analyzer, &change(&case.files)));
            same += usize::from(after == *before);
            found += usize::from(after.keys().any(|cause| case.wanted.contains(cause)));
            let before_sure = confirmed(before);
            for cause in confirmed(&after) {
                if !before_sure.contains(cause) && !case.wanted.contains(cause) {
                    wrong.push(format!("{name}: {}: {cause} is confirmed", case.name));
                }
            }
            if *keeps_meaning && after != *before {
                wrong.push(format!(
                    "{name}: {}: {before:?} became {after:?}",
                    case.name
                ));
            }
        }
        println!(
            "{name:32} same verdicts {same:3}, cause still in play {found:3} of {}",
            cases.len()
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_line_of_many_megabytes_is_read_in_pieces() {
    const MIB: usize = 1 << 20;
    let mut text = b"net.ipv4.ip_forward = 0\n".to_vec();
    text.resize(100 * MIB + 9000, b'x');
    text.extend_from_slice(b" nf_conntrack: table full, dropping packet\n");
    let analysis = analyze(&analyzer(), &Files::from([("huge".into(), text)]));
    let found = verdicts(&analysis);
    assert!(found.contains_key("conntrack-table-full"), "{found:?}");
    // What lies across two parts is not seen, so it is said that there are parts; once.
    let told: Vec<_> = analysis
        .problems
        .iter()
        .filter(|one| one.text.contains("read in parts"))
        .collect();
    assert_eq!(told.len(), 1, "{:?}", analysis.problems);
    assert_eq!(told[0].place.line, Some(2));
}
