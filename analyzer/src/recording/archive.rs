//! Texts of the captures, read from where they are each time someone asks.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use casefile_bundle::{Input, Keys, Limits};
use casefile_serve::Texts;

/// The captures that a store was filled from.
pub(crate) struct Archive {
    inputs: Vec<PathBuf>,
    keys: Option<Keys>,
    /// Texts that are parts of other texts.
    held: BTreeMap<String, String>,
}

impl Archive {
    pub(crate) fn new(inputs: &[PathBuf], keys: Option<&Keys>) -> Self {
        Self {
            inputs: inputs.to_vec(),
            keys: keys.cloned(),
            held: BTreeMap::new(),
        }
    }

    pub(super) fn hold(&mut self, held: BTreeMap<String, String>) {
        self.held = held;
    }

    /// The name by which an entry of a member is read.
    pub(super) fn name(member: usize, path: &str) -> String {
        format!("{member}:{path}")
    }
}

impl Texts for Archive {
    fn read(
        &self,
        entry: &str,
        each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), String> {
        if let Some(text) = self.held.get(entry) {
            let _ = each(text.as_bytes());
            return Ok(());
        }
        let (member, path) = entry.split_once(':').ok_or("no such entry")?;
        let member: usize = member.parse().map_err(|_| "no such entry")?;
        let input = self.inputs.get(member).ok_or("no such entry")?;
        let input = Input::new(input, self.keys.as_ref());
        let mut found = false;
        casefile_bundle::read_chosen(
            input,
            &Limits::default(),
            &mut |entry| entry.path.as_str() == path,
            &mut |piece| {
                found = true;
                match each(piece.bytes) {
                    ControlFlow::Continue(()) if !piece.last => ControlFlow::Continue(()),
                    _ => ControlFlow::Break(()),
                }
            },
        )
        .map_err(|error| error.to_string())?;
        if found {
            Ok(())
        } else {
            Err(format!("{path} is not in the capture any more"))
        }
    }
}
