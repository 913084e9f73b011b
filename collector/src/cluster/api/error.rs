//! Why a request brought nothing, in the words of a note.

/// Why a request brought nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ApiError {
    /// The server said no.
    #[error("HTTP {code}: {message}")]
    Status {
        /// HTTP status.
        code: u16,
        /// The server's own words.
        message: String,
        /// For an expired list (410): the token with which it can go on all the same.
        next: Option<String>,
    },
    /// Nothing came for too long.
    #[error("no answer within {seconds} s")]
    Silent {
        /// What was waited.
        seconds: u64,
    },
    /// The answer began and then nothing more came.
    #[error("the answer stopped half-way for {seconds} s")]
    Stalled {
        /// What was waited.
        seconds: u64,
    },
    /// The connection could not be made, or broke.
    #[error("{0}")]
    Connection(String),
    /// Several requests in a row had no answer; no more are sent.
    #[error("not asked: the API server stopped answering")]
    Gone,
    /// The answer is not what it should be.
    #[error("{0}")]
    Content(String),
    /// The source's time is up.
    #[error("not finished: time limit reached")]
    Stopped,
}

impl ApiError {
    /// The HTTP status, where the server gave one.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Status { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// Whether a connection was made and its certificates were not accepted, by either side.
    pub fn is_of_tls(&self) -> bool {
        let Self::Connection(why) = self else {
            return false;
        };
        let why = why.to_ascii_lowercase();
        ["certificate", "tls", "handshake", "alert"]
            .iter()
            .any(|word| why.contains(word))
    }

    /// One sentence for the manifest: what was asked (`LIST nodes`) and what came of it.
    pub fn note(&self, what: &str) -> String {
        match self {
            Self::Status { code: 401, .. } => format!("failed: not logged in ({what})"),
            Self::Status {
                code: 403, message, ..
            } => match user_of(message) {
                Some(user) => format!("skipped: forbidden ({what} as user {user})"),
                None => format!("skipped: forbidden ({what})"),
            },
            Self::Gone | Self::Stopped => format!("skipped: {what}: {self}"),
            _ => format!("failed: {what}: {self}"),
        }
    }
}

/// The user whom the API server refused, from its message (`User "viewer" cannot list ...`).
pub fn user_of(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("User \"")?;
    rest.split_once('"').map(|(user, _)| user)
}

/// An error with its causes, each once, in one line.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    // The client's names for its layers tell nobody anything.
    for layer in ["ServiceError: ", "HyperError: "] {
        text = text.strip_prefix(layer).map(str::to_owned).unwrap_or(text);
    }
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: u16, message: &str) -> ApiError {
        ApiError::Status {
            code,
            message: message.to_owned(),
            next: None,
        }
    }

    #[test]
    fn a_refusal_names_what_was_asked_and_as_whom() {
        let message = "nodes is forbidden: User \"viewer\" cannot list resource \"nodes\"";
        assert_eq!(
            status(403, message).note("LIST nodes"),
            "skipped: forbidden (LIST nodes as user viewer)"
        );
        assert_eq!(
            status(403, "no").note("LIST nodes"),
            "skipped: forbidden (LIST nodes)"
        );
        assert_eq!(
            status(500, "boom").note("LIST pods"),
            "failed: LIST pods: HTTP 500: boom"
        );
    }
}
