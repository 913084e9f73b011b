//! Items of a YAML list of arguments, of which one may say that the next is a secret.

use std::borrow::Cow;

use super::super::args::Command;
use super::super::value::harmless;
use super::super::words::{self, KeyClass};
use super::Lines;

/// A YAML list of arguments, as far as its next item may be a secret.
pub(super) struct ListArgs {
    indent: usize,
    flag: Option<KeyClass>,
    command: Option<Command>,
}

impl Lines {
    /// An item of a YAML list of arguments: `- --token` and what follows it.
    pub(super) fn list_item<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let list = self.list.take();
        let indent = text.len() - text.trim_start().len();
        let Some(item) = text.trim().strip_prefix("- ").map(str::trim) else {
            return text.into();
        };
        let bare = item.trim_matches(['"', '\'']);
        let mut list = list
            .filter(|list| list.indent == indent)
            .unwrap_or_else(|| ListArgs {
                indent,
                flag: None,
                command: Command::begin(bare),
            });
        let flagged = list.flag.take().map(|class| (class.name, 0..bare.len()));
        let secret = flagged
            .filter(|_| !harmless(bare) && !bare.starts_with('-'))
            .or_else(|| {
                let range = list.command.as_mut()?.next(bare)?;
                Some(("password", range))
            });
        list.flag = bare
            .strip_prefix("--")
            .filter(|flag| !flag.contains(['=', ' ']))
            .and_then(words::classify);
        if list.flag.is_some() || list.command.is_some() {
            self.list = Some(list);
        }
        match secret {
            Some((class, range)) => {
                let value = &bare[range];
                let mark = self.marker.mark(class, value.as_bytes());
                text.replacen(value, &mark, 1).into()
            }
            None => text.into(),
        }
    }
}
