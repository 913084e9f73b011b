//! Selectors of devices in the Common Expression Language, as `k8s.io/dynamic-resource-allocation/cel` evaluates them.
//!
//! The part of the language that drivers' selectors use, exact where it answers. Whatever is outside of it, too long
//! or too much work is [`Stop::Open`], which the operators carry as CEL carries errors: `open || true` is true. No
//! library is used: an expression comes from a bundle, and those that exist put no bound on the work of evaluating one.
//! Source: the CEL specification and Kubernetes' libraries for strings, quantities and versions.

mod eval;
mod functions;
mod lex;
mod operators;
mod parse;
#[cfg(test)]
mod tests;
mod value;

pub use value::{Attributes, Value, Version};

use parse::Node;

/// Longest expression that the API server takes, in bytes.
const LONGEST: usize = 10 * 1024;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It is not evaluated here; the text says what.
    Open(String),
    /// The scheduler itself stops with this error.
    Error(String),
}

/// An expression that was read.
#[derive(Debug, Clone)]
pub struct Program {
    root: Node,
}

impl Program {
    /// Reads an expression.
    ///
    /// # Errors
    /// What could not be read: no CEL, longer than the API server takes, or nested too deep.
    pub fn read(expression: &str) -> Result<Self, String> {
        if expression.len() > LONGEST {
            return Err(format!("it is longer than {LONGEST} bytes"));
        }
        let tokens = lex::tokens(expression)?;
        parse::parse(&tokens).map(|root| Self { root })
    }

    /// Whether a device matches.
    ///
    /// # Errors
    /// [`Stop`] where the expression gives no answer.
    pub fn matches(&self, device: &Value) -> Result<bool, Stop> {
        match eval::evaluate(&self.root, device)? {
            Value::Bool(answer) => Ok(answer),
            _ => Err(Stop::Error("it gives no truth value".into())),
        }
    }
}
