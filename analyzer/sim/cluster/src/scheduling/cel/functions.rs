//! Functions and methods: CEL's own, and Kubernetes' libraries for texts, quantities and versions.

use std::cmp::Ordering;

use regex::RegexBuilder;

use super::Stop;
use super::eval::open;
use super::value::{Value, Version};
use crate::scheduling::quantity::Quantity;

/// Most memory for one regular expression, in bytes.
const REGEX: usize = 1 << 18;
/// Most parts of a text that is split.
const PARTS: usize = 1000;

/// The value of a function, or of a method of a value.
pub(super) fn call(of: Option<&Value>, name: &str, arguments: &[Value]) -> Result<Value, Stop> {
    let found = match (of, arguments) {
        (None, [one]) => function(name, one)?,
        (None, [Value::Text(text), Value::Bool(lenient)]) => version(name, text, *lenient)?,
        (Some(own), [one]) if name == "includes" => Some(includes(own, one)?),
        (Some(Value::Text(text)), arguments) => text_method(text, name, arguments)?,
        (Some(Value::List(items)), []) if name == "size" => Some(size(items.len())),
        (Some(Value::Map(map) | Value::Domains(map)), []) if name == "size" => {
            Some(size(map.len()))
        }
        (Some(Value::Quantity(own)), arguments) => quantity_method(*own, name, arguments),
        (Some(Value::Version(own)), arguments) => version_method(own, name, arguments),
        _ => None,
    };
    match found {
        Some(value) => Ok(value),
        None => open(format!("the function {name} of these values")),
    }
}

/// Most values of an attribute (`ResourceSliceMaxAttributeValuesPerDevice`); `includes` looks through no longer list.
const VALUES: usize = 48;

/// Whether an attribute is a value, or a list that holds it: drivers may turn one into the other.
fn includes(own: &Value, one: &Value) -> Result<Value, Stop> {
    let Value::List(items) = own else {
        return Ok(Value::Bool(own == one));
    };
    if items.iter().take(VALUES).any(|item| item == one) {
        return Ok(Value::Bool(true));
    }
    if items.len() > VALUES {
        return Err(Stop::Error(format!(
            "'includes' function cannot be applied to lists longer than {VALUES} values"
        )));
    }
    Ok(Value::Bool(false))
}

/// `semver` and `isSemver` with their second argument, from Kubernetes 1.34 on: a lenient one takes a leading `v`,
/// leading zeros, and a version without its last parts.
fn version(name: &str, text: &str, lenient: bool) -> Result<Option<Value>, Stop> {
    let text = match lenient {
        true => complete(text),
        false => text.to_owned(),
    };
    if matches!(name, "semver" | "isSemver") {
        function(name, &Value::Text(text))
    } else {
        Ok(None)
    }
}

fn complete(text: &str) -> String {
    let text = text.strip_prefix('v').unwrap_or(text);
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (numbers, rest) = text.split_at(end);
    let plain = |part: &str| match part.trim_start_matches('0') {
        "" if !part.is_empty() => "0".to_owned(),
        part => part.to_owned(),
    };
    let mut parts: Vec<String> = numbers.split('.').map(plain).collect();
    while parts.len() < 3 {
        parts.push("0".to_owned());
    }
    format!("{}{rest}", parts.join("."))
}

fn size(length: usize) -> Value {
    Value::Int(i64::try_from(length).unwrap_or(i64::MAX))
}

fn function(name: &str, one: &Value) -> Result<Option<Value>, Stop> {
    Ok(Some(match (name, one) {
        ("size", Value::Text(text)) => size(text.chars().count()),
        ("size", Value::List(items)) => size(items.len()),
        ("size", Value::Map(map) | Value::Domains(map)) => size(map.len()),
        ("quantity", Value::Text(text)) => match Quantity::parse(text) {
            Some(quantity) => Value::Quantity(quantity),
            None => return Err(Stop::Error(format!("{text} is no quantity"))),
        },
        ("isQuantity", Value::Text(text)) => Value::Bool(Quantity::parse(text).is_some()),
        ("semver", Value::Text(text)) => match Version::parse(text) {
            Ok(version) => Value::Version(version),
            Err(_) => return Err(Stop::Error(format!("{text} is no semantic version"))),
        },
        ("isSemver", Value::Text(text)) => Value::Bool(Version::parse(text).is_ok()),
        ("string", Value::Text(text)) => Value::Text(text.clone()),
        ("string", Value::Int(number)) => Value::Text(number.to_string()),
        ("string", Value::Bool(answer)) => Value::Text(answer.to_string()),
        ("int", Value::Int(number)) => Value::Int(*number),
        ("int", Value::Text(text)) => match text.parse() {
            Ok(number) => Value::Int(number),
            Err(_) => return Err(Stop::Error(format!("{text} is no whole number"))),
        },
        ("dyn", value) => value.clone(),
        _ => return Ok(None),
    }))
}

fn text_method(text: &str, name: &str, arguments: &[Value]) -> Result<Option<Value>, Stop> {
    Ok(Some(match (name, arguments) {
        ("startsWith", [Value::Text(part)]) => Value::Bool(text.starts_with(part)),
        ("endsWith", [Value::Text(part)]) => Value::Bool(text.ends_with(part)),
        ("contains", [Value::Text(part)]) => Value::Bool(text.contains(part)),
        ("matches", [Value::Text(pattern)]) => {
            let regex = RegexBuilder::new(pattern)
                .size_limit(REGEX)
                .nest_limit(50)
                .build();
            match regex {
                Ok(regex) => Value::Bool(regex.is_match(text)),
                Err(_) => return open("its regular expression is not read"),
            }
        }
        ("size", []) => size(text.chars().count()),
        ("lowerAscii", []) => Value::Text(text.to_ascii_lowercase()),
        ("upperAscii", []) => Value::Text(text.to_ascii_uppercase()),
        ("trim", []) => Value::Text(text.trim().to_owned()),
        ("split", [Value::Text(by)]) if !by.is_empty() => {
            let parts: Vec<Value> = text
                .split(by.as_str())
                .take(PARTS + 1)
                .map(|part| Value::Text(part.to_owned()))
                .collect();
            if parts.len() > PARTS {
                return open("a text in too many parts");
            }
            Value::list(parts)
        }
        _ => return Ok(None),
    }))
}

fn compared(name: &str, order: Ordering) -> Option<Value> {
    Some(match name {
        "compareTo" => Value::Int(order as i64),
        "isGreaterThan" => Value::Bool(order == Ordering::Greater),
        "isLessThan" => Value::Bool(order == Ordering::Less),
        _ => return None,
    })
}

fn quantity_method(own: Quantity, name: &str, arguments: &[Value]) -> Option<Value> {
    match (name, arguments) {
        ("add", [Value::Quantity(other)]) => Some(Value::Quantity(own.plus(*other))),
        ("sub", [Value::Quantity(other)]) => Some(Value::Quantity(own.minus(*other))),
        ("add", [Value::Int(other)]) => Some(Value::Quantity(own.plus(Quantity::whole(*other)))),
        ("sub", [Value::Int(other)]) => Some(Value::Quantity(own.minus(Quantity::whole(*other)))),
        ("sign", []) => Some(Value::Int(own.cmp(&Quantity::whole(0)) as i64)),
        ("isInteger", []) => Some(Value::Bool(own.integer().is_some())),
        ("asInteger", []) => own.integer().map(Value::Int),
        (_, [Value::Quantity(other)]) => compared(name, own.cmp(other)),
        _ => None,
    }
}

fn version_method(own: &Version, name: &str, arguments: &[Value]) -> Option<Value> {
    let number = |number: u64| i64::try_from(number).ok().map(Value::Int);
    match (name, arguments) {
        ("major", []) => number(own.major),
        ("minor", []) => number(own.minor),
        ("patch", []) => number(own.patch),
        // What follows a plus has no rank.
        (_, [Value::Version(other)]) => compared(name, own.cmp_precedence(other)),
        _ => None,
    }
}
