//! The tables of `nft list ruleset`, with rules that are evaluated like those of
//! iptables: tables, base chains with hook and priority, sets, maps and rules.

mod chain;
mod compare;
mod compiler;
mod conntrack;
mod document;
mod expression;
mod set;
mod special;
mod statement;
mod tables;
#[cfg(test)]
mod tests;
mod tokens;
mod translate;
mod value;
mod values;

use std::sync::Arc;

pub use document::parse_ruleset;

use super::iptables::{Problem, Table};

/// Everything of one `nft list ruleset`.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruleset {
    /// Path of the captured file.
    pub path: Arc<str>,
    /// Tables in file order.
    pub tables: Vec<NftTable>,
    /// The text ends inside a table: more tables may have followed.
    pub cut: bool,
    /// What was not understood, in file order, at most
    /// [`MAX_PROBLEMS`](super::iptables::MAX_PROBLEMS).
    pub problems: Vec<Problem>,
    /// How many statements were not understood in all.
    pub unread: usize,
}

/// One nft table.
#[derive(Debug, Clone, PartialEq)]
pub struct NftTable {
    /// Family as written: `ip`, `ip6`, `inet`, `bridge`, `netdev`, `arp`.
    pub family: String,
    /// Table name.
    pub name: String,
    /// Family and name, as sentences name the table: `inet firewalld`.
    pub title: String,
    /// Path of the captured file.
    pub path: Arc<str>,
    /// Line of the table in the captured file, counted from 1.
    pub line: u32,
    /// Its chains.
    pub rules: Table,
    /// Those of them that are attached to a hook.
    pub bases: Vec<Base>,
}

/// Where a base chain is attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The chain's name.
    pub chain: String,
    /// `filter`, `nat` or `route`.
    pub kind: String,
    /// `prerouting`, `input`, `forward`, `output`, `postrouting`, `ingress`, `egress`.
    pub hook: String,
    /// Lower ones come first.
    pub priority: i32,
    /// The devices of a chain at `ingress` or `egress`.
    pub devices: Vec<String>,
}
