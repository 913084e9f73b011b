//! Secrets as Helm's library sends them: Kubernetes' protobuf, of which only what a stored release needs is read
//! (`k8s.io/api/core/v1/generated.proto`).

use base64::Engine as _;
use serde_json::{Map, Value, json};

/// What such a body begins with.
const MAGIC: &[u8] = b"k8s\0";

/// A field: its number, and its bytes where it holds some.
type Field<'a> = (u64, &'a [u8]);

/// The object of a body, which is JSON or the protobuf of a Secret.
pub(crate) fn object(body: &[u8]) -> Value {
    match body.strip_prefix(MAGIC) {
        Some(rest) => secret(rest).unwrap_or(Value::Null),
        None => serde_json::from_slice(body).unwrap_or(Value::Null),
    }
}

fn secret(body: &[u8]) -> Option<Value> {
    let envelope = fields(body)?;
    let of = |number: u64| envelope.iter().find(|one| one.0 == number);
    let kind = fields(of(1)?.1)?;
    let text = |wanted: u64| {
        kind.iter()
            .find(|one| one.0 == wanted)
            .map(|one| word(one.1))
    };
    let mut item = json!({"apiVersion": text(1)?, "kind": text(2)?, "metadata": {}, "data": {}});
    for (number, bytes) in fields(of(2)?.1)? {
        match number {
            1 => item["metadata"] = metadata(bytes)?,
            2 => {
                let (name, data) = entry(bytes)?;
                item["data"][name] = base64::engine::general_purpose::STANDARD
                    .encode(data)
                    .into();
            }
            3 => item["type"] = word(bytes).into(),
            _ => {}
        }
    }
    Some(item)
}

fn metadata(bytes: &[u8]) -> Option<Value> {
    let mut all = Map::new();
    let mut labels = Map::new();
    for (number, bytes) in fields(bytes)? {
        match number {
            1 => drop(all.insert("name".into(), word(bytes).into())),
            3 => drop(all.insert("namespace".into(), word(bytes).into())),
            11 => {
                let (name, value) = entry(bytes)?;
                labels.insert(name, word(value).into());
            }
            _ => {}
        }
    }
    all.insert("labels".into(), labels.into());
    Some(all.into())
}

/// An entry of a map.
fn entry(bytes: &[u8]) -> Option<(String, &[u8])> {
    let all = fields(bytes)?;
    let of = |number: u64| all.iter().find(|one| one.0 == number).map(|one| one.1);
    Some((word(of(1)?), of(2).unwrap_or_default()))
}

fn word(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The fields of a message; none where it is none.
fn fields(mut rest: &[u8]) -> Option<Vec<Field<'_>>> {
    let mut all = Vec::new();
    while !rest.is_empty() {
        let key = number(&mut rest)?;
        match key & 7 {
            0 => drop(number(&mut rest)?),
            2 => {
                let length = usize::try_from(number(&mut rest)?).ok()?;
                let (own, next) = rest.split_at_checked(length)?;
                all.push((key >> 3, own));
                rest = next;
            }
            _ => return None,
        }
    }
    Some(all)
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, next) = rest.split_first()?;
        *rest = next;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
