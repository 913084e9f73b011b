//! Words of an expression.

/// A word.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Int(i64),
    Text(String),
    Name(String),
    Sign(&'static str),
}

/// Signs, the longer before those that they start with.
const SIGNS: [&str; 25] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "!", "(", ")", "[", "]",
    "{", "}", ".", ",", "?", ":", "=",
];

/// Cuts an expression into words.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut rest = text;
    let mut tokens = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, next)| next);
            continue;
        }
        let Some(first) = rest.chars().next() else {
            return Ok(tokens);
        };
        let (token, after) = if first.is_ascii_digit() {
            number(rest)?
        } else if let Some(start) = opening(rest) {
            string(rest, start)?
        } else if first.is_ascii_alphabetic() || first == '_' {
            name(rest)
        } else {
            sign(rest)?
        };
        tokens.push(token);
        rest = after;
    }
}

fn sign(text: &str) -> Result<(Token, &str), String> {
    let found = SIGNS.into_iter().find(|sign| text.starts_with(sign));
    let sign = found.ok_or_else(|| {
        let odd = text.chars().next().unwrap_or(' ');
        format!("{} is no sign of the language", odd.escape_default())
    })?;
    Ok((Token::Sign(sign), &text[sign.len()..]))
}

fn name(text: &str) -> (Token, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    (Token::Name(text[..end].to_owned()), &text[end..])
}

fn number(text: &str) -> Result<(Token, &str), String> {
    let end = text
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let fraction = rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit());
    let number = match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    };
    match number.filter(|_| !fraction) {
        Some(number) => Ok((Token::Int(number), rest)),
        None => Err(format!("the number {digits} is not read")),
    }
}

/// How a text starts: whether it is raw, and its quotes.
fn opening(text: &str) -> Option<(bool, &'static str)> {
    let raw = text.starts_with(['r', 'R']);
    let quotes = ["\"\"\"", "'''", "\"", "'"];
    let rest = if raw { &text[1..] } else { text };
    let found = quotes.into_iter().find(|quote| rest.starts_with(quote))?;
    Some((raw, found))
}

fn string<'a>(text: &'a str, (raw, quote): (bool, &str)) -> Result<(Token, &'a str), String> {
    let mut rest = &text[usize::from(raw) + quote.len()..];
    let mut value = String::new();
    loop {
        if let Some(after) = rest.strip_prefix(quote) {
            return Ok((Token::Text(value), after));
        }
        let mut chars = rest.chars();
        match chars.next() {
            None => return Err("a text does not end".into()),
            Some('\\') if !raw => {
                let (char, after) = escape(chars.as_str())?;
                value.push(char);
                rest = after;
            }
            Some(char) => {
                value.push(char);
                rest = chars.as_str();
            }
        }
    }
}

/// What stands after a backslash.
fn escape(text: &str) -> Result<(char, &str), String> {
    let odd = || "an escape in a text is not read".to_owned();
    let mut chars = text.chars();
    let kind = chars.next().ok_or_else(odd)?;
    let digits = match kind {
        'x' | 'X' => 2,
        'u' => 4,
        'U' => 8,
        _ => {
            let plain = match kind {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'a' => '\u{7}',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'v' => '\u{b}',
                '\\' | '?' | '"' | '\'' | '`' => kind,
                _ => return Err(odd()),
            };
            return Ok((plain, chars.as_str()));
        }
    };
    let code = chars.as_str().get(..digits).ok_or_else(odd)?;
    let number = u32::from_str_radix(code, 16).map_err(|_| odd())?;
    let char = char::from_u32(number).ok_or_else(odd)?;
    Ok((char, &chars.as_str()[digits..]))
}
