//! Secrets written as YAML: what stands below `data:` or `stringData:` is secret whatever it looks like, but `kind:`
//! may come after it. Such lines are held until the kind is known.

/// Lines and bytes that are held at most; an object of the API cannot be larger than 3 MiB.
const MAX_LINES: usize = 50_000;
const MAX_BYTES: usize = 4 << 20;

/// What became of a line.
pub(crate) enum Taken {
    /// It is none of this module's.
    No,
    /// It waits.
    Held,
    /// The lines before it are to be cleaned now, and then it is looked at anew.
    Before(Vec<Vec<u8>>),
}

/// The watch over one stream of YAML documents.
#[derive(Default)]
pub(crate) struct SecretObjects {
    /// Where `kind: Secret` stands in this document.
    kind_at: Option<usize>,
    held: Vec<Vec<u8>>,
    bytes: usize,
    data_at: usize,
}

/// A line's indentation (list dashes are blanks), its key and the value behind.
fn member(line: &[u8]) -> Option<(usize, &str, &str)> {
    let text = std::str::from_utf8(line).ok()?.trim_end();
    let body = text.trim_start_matches([' ', '-']);
    let indent = text.len() - body.len();
    let (key, value) = body.split_once(':')?;
    (!key.is_empty() && !key.contains(' ')).then(|| (indent, key, value.trim()))
}

impl SecretObjects {
    /// Whether no line waits.
    pub(crate) fn nothing_held(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether a line may mean something here; most do not.
    pub(crate) fn wants(&self, line: &[u8]) -> bool {
        let body = line.trim_ascii_start();
        let body = body.strip_prefix(b"- ").unwrap_or(body);
        !self.held.is_empty()
            || body.starts_with(b"kind:")
            || body.starts_with(b"data:")
            || line.starts_with(b"---")
    }

    /// Takes the next line of text, its line end included.
    pub(crate) fn push(&mut self, line: &[u8]) -> Taken {
        if line.starts_with(b"---") {
            self.kind_at = None;
            return self.release();
        }
        let member = member(line);
        if !self.held.is_empty() {
            return self.while_held(line, member);
        }
        match member {
            Some((indent, "kind", kind)) => {
                let secret = matches!(kind.trim_matches(['"', '\'']), "Secret" | "SecretList");
                if secret {
                    self.kind_at = Some(indent);
                } else if self.kind_at == Some(indent) {
                    self.kind_at = None;
                }
                Taken::No
            }
            Some((indent, "data", "")) if self.kind_at != Some(indent) => {
                self.data_at = indent;
                self.hold(line);
                Taken::Held
            }
            _ => Taken::No,
        }
    }

    /// What still waits at the end of the stream.
    pub(crate) fn finish(&mut self) -> Vec<Vec<u8>> {
        self.bytes = 0;
        std::mem::take(&mut self.held)
    }

    /// The column of a `data:` or `stringData:` whose lines are all secret.
    pub(crate) fn data(&self, line: &str) -> Option<usize> {
        let body = line.trim_start_matches([' ', '-']);
        let named = |name: &str| body.starts_with(name);
        if !["data:", "stringData:", "chpasswd:"].into_iter().any(named) {
            return None;
        }
        let (indent, key, _) = member(line.as_bytes())?;
        let data = key == "data" && self.kind_at == Some(indent);
        (data || key == "stringData" || key == "chpasswd").then_some(indent)
    }

    fn while_held(&mut self, line: &[u8], member: Option<(usize, &str, &str)>) -> Taken {
        let blank = line.trim_ascii().is_empty();
        match member {
            Some((indent, "kind", kind)) if indent == self.data_at => {
                let secret = matches!(kind.trim_matches(['"', '\'']), "Secret" | "SecretList");
                self.kind_at = secret.then_some(indent);
                self.release()
            }
            Some((indent, "immutable" | "binaryData", _)) if indent == self.data_at => {
                self.hold(line);
                Taken::Held
            }
            _ if blank || indent_of(line) > self.data_at => {
                self.hold(line);
                if self.held.len() < MAX_LINES && self.bytes < MAX_BYTES {
                    return Taken::Held;
                }
                // Too long to wait for the kind: taken for a Secret.
                self.kind_at = Some(self.data_at);
                let mut lines = self.finish();
                lines.pop();
                Taken::Before(lines)
            }
            _ => self.release(),
        }
    }

    fn hold(&mut self, line: &[u8]) {
        self.bytes += line.len();
        self.held.push(line.to_vec());
    }

    fn release(&mut self) -> Taken {
        if self.held.is_empty() {
            return Taken::No;
        }
        Taken::Before(self.finish())
    }
}

fn indent_of(line: &[u8]) -> usize {
    line.iter().take_while(|byte| **byte == b' ').count()
}
