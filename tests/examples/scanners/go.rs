//! Texts in Go's sources: literals, constants, `fmt.Sprintf` and sums of them.

use std::collections::BTreeMap;

use super::samples::Sample;

/// Values of the constants and variables of a file.
pub(crate) type Names = BTreeMap<String, String>;

/// Reads an expression from its beginning and says where it ends.
pub(crate) struct Reader<'a> {
    rest: &'a str,
    names: &'a Names,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(rest: &'a str, names: &'a Names) -> Self {
        Self { rest, names }
    }

    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            match self.rest.strip_prefix("//") {
                Some(comment) => self.rest = comment.split_once('\n').map_or("", |(_, rest)| rest),
                None => return,
            }
        }
    }

    fn eat(&mut self, mark: &str) -> bool {
        self.skip();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// A sum of texts.
    pub(crate) fn text(&mut self) -> Option<String> {
        let mut all = self.term()?;
        while self.eat("+") {
            all.push_str(&self.term()?);
        }
        Some(all)
    }

    /// Texts between commas, up to what is none.
    pub(crate) fn list(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(text) = self.text() {
            all.push(text);
            if !self.eat(",") {
                break;
            }
        }
        all
    }

    fn term(&mut self) -> Option<String> {
        if self.eat("`") {
            let (text, rest) = self.rest.split_once('`')?;
            self.rest = rest;
            return Some(text.to_owned());
        }
        if self.eat("\"") {
            return self.quoted();
        }
        if self.eat("fmt.Sprintf(") {
            let parts = self.list();
            self.eat(")").then_some(())?;
            return Some(formatted(&parts));
        }
        self.skip();
        let length = self
            .rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        let value = self.names.get(&self.rest[..length])?;
        self.rest = &self.rest[length..];
        Some(value.clone())
    }

    fn quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Some(text);
                }
                '\\' => text.push(match letters.next()?.1 {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    other => other,
                }),
                '\n' => return None,
                other => text.push(other),
            }
        }
        None
    }
}

fn formatted(parts: &[String]) -> String {
    let mut arguments = parts.iter().skip(1);
    let mut out = String::new();
    let mut rest = parts.first().map_or("", String::as_str);
    while let Some((before, behind)) = rest.split_once('%') {
        out.push_str(before);
        if behind.starts_with(['s', 'v', 'q']) {
            out.push_str(arguments.next().map_or("", String::as_str));
            rest = &behind[1..];
        } else {
            out.push('%');
            rest = behind.strip_prefix('%').unwrap_or(behind);
        }
    }
    out + rest
}

/// Every `name = text` and `name := text` of a file.
pub(crate) fn names(source: &str) -> Names {
    let mut names = Names::new();
    for (at, _) in source.match_indices('=') {
        let before = source[..at].trim_end_matches(':').trim_end();
        let length = before
            .bytes()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        let name = &before[before.len() - length..];
        let value = Reader::new(&source[at + 1..], &names).text();
        if let (Some(value), false) = (value, name.is_empty()) {
            names.insert(name.to_owned(), value);
        }
    }
    names
}

/// The cases of a detector's test that it has to find.
pub(crate) fn trufflehog(source: &str, rule: &str) -> Vec<Sample> {
    let names = names(source);
    let mut all = Vec::new();
    for (at, mark) in source.match_indices("input:") {
        let body = &source[at + mark.len()..];
        let body = body.split("input:").next().unwrap_or(body);
        let Some(input) = Reader::new(body, &names).text() else {
            continue;
        };
        let Some((_, want)) = body.split_once("[]string{") else {
            continue;
        };
        for secret in Reader::new(want, &names).list() {
            let native = input.contains(&secret).then(|| input.clone());
            if native.is_some() {
                all.push(Sample::new("trufflehog", rule, &secret, native));
            }
        }
    }
    all
}
