//! An answer: what goes back to the client, made piece by piece where it may be large.

use std::ops::ControlFlow;
use std::time::Duration;

use bytes::Bytes;

use crate::status::Status;

/// Pieces of a body, made as they are sent.
pub(crate) type Pieces = Box<dyn Iterator<Item = Bytes> + Send>;
/// Takes pieces of a text until it has enough.
pub(crate) type Taker<'t> = &'t mut dyn FnMut(Bytes) -> ControlFlow<()>;
/// A text that is read from the capture while it is sent.
pub(crate) type Telling = Box<dyn FnOnce(Taker<'_>) + Send>;

/// A body.
pub enum Body {
    /// All at once.
    Whole(Bytes),
    /// Piece by piece.
    Pieces(Pieces),
    /// The state, and then nothing more for as long as the watch lasts.
    Watch(Pieces, Duration),
    /// Read while it is sent.
    Text(Telling),
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Body::Whole(_) => "Whole",
            Body::Pieces(_) => "Pieces",
            Body::Watch(..) => "Watch",
            Body::Text(_) => "Text",
        })
    }
}

/// What goes back to the client.
#[derive(Debug)]
pub struct Answer {
    /// HTTP status.
    pub code: u16,
    /// `Content-Type`.
    pub content_type: &'static str,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Body,
}

pub(crate) const JSON: &str = "application/json";
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";

impl Answer {
    pub(crate) fn new(content_type: &'static str, body: Body) -> Self {
        Self {
            code: 200,
            content_type,
            headers: Vec::new(),
            body,
        }
    }

    pub(crate) fn json(text: impl Into<Bytes>) -> Self {
        Self::new(JSON, Body::Whole(text.into()))
    }

    pub(crate) fn text(text: impl Into<Bytes>) -> Self {
        Self::new(TEXT, Body::Whole(text.into()))
    }

    /// A warning that kubectl prints beside the answer.
    pub(crate) fn warn(mut self, warning: Option<&str>) -> Self {
        if let Some(warning) = warning {
            // The value is a quoted string of one line.
            let plain: String = warning
                .chars()
                .map(|c| {
                    if c.is_ascii_graphic() || c == ' ' {
                        c
                    } else {
                        '?'
                    }
                })
                .collect();
            let quoted = plain.replace('\\', "\\\\").replace('"', "\\\"");
            self.headers
                .push(("Warning", format!("299 - \"{quoted}\"")));
        }
        self
    }

    /// The whole body.
    pub fn collect(self) -> Vec<u8> {
        let mut all = Vec::new();
        self.each(&mut |piece| {
            all.extend_from_slice(piece);
            ControlFlow::Continue(())
        });
        all
    }

    /// The body piece by piece; of a watch, the state.
    pub fn each(self, take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) {
        match self.body {
            Body::Whole(bytes) => {
                let _ = take(&bytes);
            }
            Body::Pieces(mut pieces) | Body::Watch(mut pieces, _) => {
                let _ = pieces.try_for_each(|piece| take(&piece));
            }
            Body::Text(tell) => tell(&mut |piece| take(&piece)),
        }
    }
}

impl From<Status> for Answer {
    fn from(status: Status) -> Self {
        let mut text = status.json();
        text.push('\n');
        Self {
            code: status.code,
            ..Self::json(text)
        }
    }
}
