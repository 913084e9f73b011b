//! The fix: typed changes, tried on the captured state before anyone touches the node.
//!
//! A rule's remedy names [`Change`](crate::change::Change)s; [`replay`] applies them to a copy of the captured state
//! ([`Captured`](crate::change::captured::Captured)), diagnoses it again and says what became of the cause; [`write`] hands the
//! changes over as files, with a script that stops at each step. Nothing is ever applied from here.

pub mod command;
mod contradiction;
mod exposure;
pub mod proofs;
pub mod proposal;
pub mod replay;
pub mod shown;
pub mod workload;
pub mod write;

pub use proofs::proofs;

#[cfg(test)]
mod air_gap_tests;
#[cfg(test)]
mod at_once_tests;
#[cfg(test)]
mod bad_answer_tests;
#[cfg(test)]
mod bad_input_tests;
#[cfg(test)]
mod bad_table_tests;
#[cfg(test)]
mod by_person_tests;
#[cfg(test)]
mod claim_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod kept_tests;
#[cfg(test)]
mod killed_tests;
#[cfg(test)]
mod reader_tests;
#[cfg(test)]
mod safety_tests;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
mod tests;
