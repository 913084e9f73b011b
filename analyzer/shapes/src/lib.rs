//! Shapes of lines: a line with its numbers and ids left open, and what can stand in all lines of one.
//!
//! [`shape`] writes them, [`Words`](words::Words) says what stays as it is, [`radix`] finds a line's shape by walking along
//! it. What a line of a shape may hold of the texts that are looked for [`index`] finds; which expressions can match one is
//! proven on their automata ([`automaton`]; `abstract_match`, `always`, `captured`), without trying them on each line.
//! Nothing here knows logs, rules or bundles.

pub mod abstract_match;
pub mod alphabet;
mod always;
mod ascii;
pub mod automaton;
pub mod before;
mod captured;
mod drawn;
pub mod expression;
pub mod form;
pub mod index;
mod open_text;
mod places;
pub mod radix;
mod rarity;
mod recent;
mod runs;
pub mod shape;
mod steps;
mod tokens;
pub mod tries;
pub mod words;
