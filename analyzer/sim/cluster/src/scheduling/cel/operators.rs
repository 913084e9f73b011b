//! Operators on two values.

use std::cmp::Ordering;

use super::Stop;
use super::eval::open;
use super::value::Value;

/// An arithmetic operation left the range of whole numbers.
pub(super) fn overflow() -> Stop {
    Stop::Error("integer overflow".into())
}

/// The value of an operator that looks at both sides.
pub(super) fn apply(sign: &str, left: &Value, right: &Value) -> Result<Value, Stop> {
    match sign {
        "==" => Ok(Value::Bool(left == right)),
        "!=" => Ok(Value::Bool(left != right)),
        "in" => contains(right, left).map(Value::Bool),
        "<" => ordered(left, right).map(|order| Value::Bool(order == Ordering::Less)),
        "<=" => ordered(left, right).map(|order| Value::Bool(order != Ordering::Greater)),
        ">" => ordered(left, right).map(|order| Value::Bool(order == Ordering::Greater)),
        ">=" => ordered(left, right).map(|order| Value::Bool(order != Ordering::Less)),
        _ => arithmetic(sign, left, right),
    }
}

fn contains(all: &Value, one: &Value) -> Result<bool, Stop> {
    match (all, one) {
        (Value::List(items), one) => Ok(items.contains(one)),
        (Value::Map(map), Value::Text(key)) => Ok(map.contains_key(key)),
        // Looking a domain up finds an empty map where there is none, but `in` asks whether it is there.
        (Value::Domains(map), Value::Text(key)) => Ok(map.contains_key(key)),
        _ => open("in, of what is no list"),
    }
}

fn ordered(left: &Value, right: &Value) -> Result<Ordering, Stop> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => Ok(left.cmp(right)),
        (Value::Text(left), Value::Text(right)) => Ok(left.cmp(right)),
        (Value::Bool(left), Value::Bool(right)) => Ok(left.cmp(right)),
        _ => open("values of different kinds are compared"),
    }
}

fn arithmetic(sign: &str, left: &Value, right: &Value) -> Result<Value, Stop> {
    match (sign, left, right) {
        ("+", Value::Text(left), Value::Text(right)) => {
            if left.len() + right.len() > super::LONGEST {
                return open("a text grows too long");
            }
            Ok(Value::Text(format!("{left}{right}")))
        }
        ("+", Value::List(left), Value::List(right)) if left.len() + right.len() < 1000 => Ok(
            Value::list(left.iter().chain(right.iter()).cloned().collect()),
        ),
        (_, Value::Int(left), Value::Int(right)) => {
            if matches!(sign, "/" | "%") && *right == 0 {
                return Err(Stop::Error("division by zero".into()));
            }
            let result = match sign {
                "+" => left.checked_add(*right),
                "-" => left.checked_sub(*right),
                "*" => left.checked_mul(*right),
                "/" => left.checked_div(*right),
                _ => left.checked_rem(*right),
            };
            result.map(Value::Int).ok_or_else(overflow)
        }
        _ => open(format!("{sign} between values of this kind")),
    }
}
