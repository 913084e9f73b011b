//! Why a pending pod fits on no node, worked out offline from the objects that the scheduler would look at.
//!
//! Pure: objects as the API server gives them in, explained verdicts out. The predicates, their order and their
//! words are those of kube-scheduler's default plugins (`pkg/scheduler/framework/plugins` of kubernetes), HAMi's
//! those of its scheduler extender. What the objects cannot tell is [`verdict::State::Undecided`] instead of a guess.

pub mod api;
pub mod cel;
pub mod cluster;
mod dra;
pub mod hami;
mod predicates;
pub mod quantity;
pub mod quota;
mod quota_scope;
pub mod requests;
pub mod said;
pub mod selector;
#[cfg(test)]
mod tests;
pub mod verdict;

pub use cluster::{Cluster, Inputs, Release};
pub use predicates::{Predicate, Reason};
pub use verdict::{NodeVerdict, State, Verdict, explain};
