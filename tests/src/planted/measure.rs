//! Recall and precision of a redaction, as a table by kind and by place.

use std::collections::BTreeMap;
use std::fmt;

use super::{Case, Document, Format, look_alikes, parses, reveals, secrets};

/// A redaction under test: the name and the bytes that would be in the bundle.
pub type Redact<'a> = dyn Fn(&Document) -> (String, Vec<u8>) + 'a;

/// One row of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Row {
    /// Cases.
    pub all: usize,
    /// Cases that went as they should.
    pub good: usize,
}

/// What was measured.
#[derive(Default)]
pub struct Figures {
    /// Planted secrets by kind.
    pub kinds: BTreeMap<&'static str, Row>,
    /// Planted secrets by place.
    pub places: BTreeMap<&'static str, Row>,
    /// Look-alikes by kind.
    pub kept: BTreeMap<&'static str, Row>,
    /// What went wrong, one line each.
    pub wrong: Vec<String>,
    /// Documents that are not what they were before: JSON that no longer parses and the like.
    pub broken: Vec<String>,
    /// Documents that change when they are redacted once more.
    pub unstable: Vec<String>,
}

/// Measures with the given seed.
pub fn measure(seed: u64, redact: &Redact<'_>) -> Figures {
    let mut figures = Figures::default();
    for case in secrets(seed) {
        figures.secret(&case, redact);
    }
    for case in look_alikes(seed) {
        figures.look_alike(&case, redact);
    }
    figures
}

impl Figures {
    fn secret(&mut self, case: &Case, redact: &Redact<'_>) {
        let (name, out) = redact(&case.document);
        let seen = case
            .needles
            .iter()
            .any(|needle| reveals(&out, needle) || name.contains(needle));
        count(&mut self.kinds, case.kind, !seen);
        count(&mut self.places, case.place, !seen);
        if seen {
            self.wrong.push(format!(
                "seen: {}: {}: {}",
                case.kind,
                case.place,
                show(&out)
            ));
        }
        self.shape(case, &name, &out, redact);
    }

    fn look_alike(&mut self, case: &Case, redact: &Redact<'_>) {
        let (name, out) = redact(&case.document);
        let text = String::from_utf8_lossy(&out);
        let kept = case.needles.iter().all(|needle| text.contains(needle));
        count(&mut self.kept, case.kind, kept);
        if !kept {
            self.wrong.push(format!(
                "lost: {}: {}: {}",
                case.kind,
                case.place,
                show(&out)
            ));
        }
        self.shape(case, &name, &out, redact);
    }

    fn shape(&mut self, case: &Case, name: &str, out: &[u8], redact: &Redact<'_>) {
        let format = case.document.format;
        if format != Format::Any
            && parses(format, &case.document.bytes).is_ok()
            && let Err(error) = parses(format, out)
        {
            self.broken.push(format!(
                "{}: {}: {error}: {}",
                case.kind,
                case.place,
                show(out)
            ));
        }
        let again = Document {
            bytes: out.to_vec(),
            name: name.to_owned(),
            ..case.document.clone()
        };
        let twice = redact(&again);
        if twice.1 != out || twice.0 != name {
            self.unstable.push(format!(
                "{}: {}: {} -> {}",
                case.kind,
                case.place,
                show(out),
                show(&twice.1)
            ));
        }
    }

    /// All rows of a table added up.
    pub fn total(table: &BTreeMap<&'static str, Row>) -> Row {
        table.values().fold(Row::default(), |sum, row| Row {
            all: sum.all + row.all,
            good: sum.good + row.good,
        })
    }
}

fn count(table: &mut BTreeMap<&'static str, Row>, name: &'static str, good: bool) {
    let row = table.entry(name).or_default();
    row.all += 1;
    row.good += usize::from(good);
}

fn show(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .take(300)
        .collect::<String>()
        .escape_debug()
        .to_string()
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (title, table) in [
            ("planted secrets by kind", &self.kinds),
            ("planted secrets by place", &self.places),
            ("look-alikes that stayed", &self.kept),
        ] {
            writeln!(f, "{title}")?;
            for (name, row) in table {
                writeln!(f, "  {name:<40} {:>5} of {:>5}", row.good, row.all)?;
            }
        }
        let (secrets, kept) = (Self::total(&self.kinds), Self::total(&self.kept));
        writeln!(
            f,
            "recall: {} of {} planted secrets of {} kinds in {} places replaced ({:.2} %)",
            secrets.good,
            secrets.all,
            self.kinds.len(),
            self.places.len(),
            percent(secrets.good, secrets.all)
        )?;
        writeln!(
            f,
            "precision: {} of {} look-alikes of {} kinds touched ({:.2} %)",
            kept.all - kept.good,
            kept.all,
            self.kept.len(),
            percent(kept.all - kept.good, kept.all)
        )?;
        writeln!(
            f,
            "shape: {} documents no longer parse, {} change when redacted again",
            self.broken.len(),
            self.unstable.len()
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of thousands")]
fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}
