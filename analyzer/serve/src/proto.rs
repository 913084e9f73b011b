//! The few messages that kubectl sends in protobuf: reviews of what its user may do. They are brought into JSON.

use serde_json::{Map, Value, json};

/// What every such body begins with.
const MAGIC: &[u8] = b"k8s\0";

/// A review as JSON; none if it is no such message.
pub(crate) fn review(body: &[u8]) -> Option<Value> {
    let envelope = fields(body.strip_prefix(MAGIC)?)?;
    let review = fields(bytes(&envelope, 2)?)?;
    let Some(spec) = bytes(&review, 2) else {
        return Some(json!({}));
    };
    let spec = fields(spec)?;
    let mut value = Map::new();
    // Field 1 is a message in an access review, and text in a review of rules.
    if let Some(of) = bytes(&spec, 1) {
        match named(
            of,
            &[
                "namespace",
                "verb",
                "group",
                "version",
                "resource",
                "subresource",
                "name",
            ],
        ) {
            Some(attributes) if attributes.contains_key("verb") => {
                value.insert("resourceAttributes".to_owned(), Value::Object(attributes));
            }
            _ => {
                let namespace = String::from_utf8_lossy(of).into_owned();
                value.insert("namespace".to_owned(), json!(namespace));
            }
        }
    }
    if let Some(path) = bytes(&spec, 2).and_then(|of| named(of, &["path", "verb"])) {
        value.insert("nonResourceAttributes".to_owned(), Value::Object(path));
    }
    Some(json!({"spec": value}))
}

/// Texts of a message, by the names of its fields 1, 2, and so on.
fn named(message: &[u8], names: &[&str]) -> Option<Map<String, Value>> {
    let mut found = Map::new();
    for (number, text) in fields(message)? {
        let name = usize::try_from(number)
            .ok()?
            .checked_sub(1)
            .and_then(|at| names.get(at));
        if let Some(name) = name {
            let text = std::str::from_utf8(text).ok()?;
            if !text.is_empty() {
                found.insert((*name).to_owned(), json!(text));
            }
        }
    }
    Some(found)
}

fn bytes<'f>(fields: &[(u64, &'f [u8])], number: u64) -> Option<&'f [u8]> {
    fields
        .iter()
        .find(|(known, _)| *known == number)
        .map(|(_, bytes)| *bytes)
}

/// Fields that have a length; numbers are passed over. None if it is no message.
fn fields(mut rest: &[u8]) -> Option<Vec<(u64, &[u8])>> {
    let mut found = Vec::new();
    while !rest.is_empty() {
        let key = varint(&mut rest)?;
        match key & 7 {
            0 => {
                varint(&mut rest)?;
            }
            1 => rest = rest.get(8..)?,
            2 => {
                let length = usize::try_from(varint(&mut rest)?).ok()?;
                found.push((key >> 3, rest.get(..length)?));
                rest = rest.get(length..)?;
            }
            5 => rest = rest.get(4..)?,
            _ => return None,
        }
    }
    Some(found)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let length = u8::try_from(bytes.len()).unwrap();
        [&[number << 3 | 2, length], bytes].concat()
    }

    #[test]
    fn an_access_review_is_read() {
        let attributes = [field(1, b"shop"), field(2, b"list"), field(5, b"pods")].concat();
        let review_bytes = field(2, &field(1, &attributes));
        let body = [MAGIC, &field(2, &review_bytes)].concat();
        let value = review(&body).unwrap();
        assert_eq!(value["spec"]["resourceAttributes"]["resource"], "pods");
        let rules = [MAGIC, &field(2, &field(2, &field(1, b"shop")))].concat();
        assert_eq!(review(&rules).unwrap()["spec"]["namespace"], "shop");
        for cut in 0..body.len() {
            // Whatever comes in, nothing but a value or none comes out.
            let _ = review(&body[..cut]);
        }
    }
}
