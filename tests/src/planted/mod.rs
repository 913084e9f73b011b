//! Planted secrets and their look-alikes: what redaction is measured with. Everything is made when a test runs; no
//! secret here was ever one.

mod blind;
mod kept;
mod kinds;
mod measure;
mod places;
mod public;
mod reveal;
mod rng;
mod shapes;

pub use blind::UNFOUND;
pub use measure::{Figures, Redact, Row, measure};
pub use reveal::{parses, reveals};
pub use shapes::{Filled, fill};

use places::Planted;
use rng::Rng;

/// How a document is given to the redaction; the same two ways as the collector's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Lines of text, configuration or logs.
    Text,
    /// One JSON value a line.
    JsonLines,
}

/// What a document must still be afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Nothing in particular.
    Any,
    /// One or more YAML documents.
    Yaml,
    /// One TOML document.
    Toml,
    /// One JSON value.
    Json,
    /// One JSON value a line.
    JsonLines,
}

/// One file with something in it.
#[derive(Debug, Clone)]
pub struct Document {
    /// How it is read.
    pub content: Content,
    /// Its path in the bundle.
    pub name: String,
    /// What it must still be afterwards.
    pub format: Format,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What must not be seen besides the secret itself.
    pub also: Vec<String>,
}

impl Document {
    fn new(content: Content, name: &str, format: Format, bytes: Vec<u8>) -> Self {
        Self {
            content,
            name: format!("nodes/gpu-1/rootfs/etc/{name}"),
            format,
            bytes,
            also: Vec::new(),
        }
    }

    fn also(mut self, secret: &str) -> Self {
        self.also.push(secret.to_owned());
        self
    }

    fn named(mut self, name: String) -> Self {
        self.name = name;
        self
    }
}

/// A document and what is hidden in it.
pub struct Case {
    /// The kind of secret, or of look-alike.
    pub kind: &'static str,
    /// The place.
    pub place: &'static str,
    /// What must not be seen (of a look-alike: what must).
    pub needles: Vec<String>,
    /// The document.
    pub document: Document,
}

/// Every kind in every place that can hold it, with a fresh secret each.
pub fn secrets(seed: u64) -> Vec<Case> {
    let mut rng = Rng::new(seed);
    let mut cases = Vec::new();
    for place in places::all() {
        for kind in kinds::KINDS {
            let secret = (kind.make)(&mut rng);
            let unfit =
                place.needs_form && !kind.formed || secret.contains(|c| place.never.contains(c));
            if unfit {
                continue;
            }
            let planted = Planted {
                key: kind.key,
                secret: &secret,
            };
            let document = (place.plant)(&planted);
            let mut needles = vec![secret.clone()];
            needles.extend(document.also.iter().cloned());
            cases.push(Case {
                kind: kind.id,
                place: place.id,
                needles,
                document,
            });
        }
    }
    cases.extend(blocks(&mut rng));
    cases.extend(public::cases(&mut rng));
    cases.extend(blind::cases(&mut rng));
    cases
}

/// Private keys over several lines.
fn blocks(rng: &mut Rng) -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, name) in kinds::BLOCKS {
        for (place, plant) in places::BLOCK_PLACES {
            let (text, lines) = kinds::block(rng, name);
            cases.push(Case {
                kind,
                place,
                needles: lines,
                document: plant(&text),
            });
        }
    }
    cases
}

/// What looks like a secret and must stay, because a diagnosis reads it.
pub fn look_alikes(seed: u64) -> Vec<Case> {
    let mut rng = Rng::new(seed);
    let mut cases = kept::cases(&mut rng);
    cases.extend(blind::alike(&mut rng));
    cases
}
