//! What the control plane would do with captured objects: where a pending pod fits and in which words the scheduler
//! refuses it, and which objects and values a Helm release made.
//!
//! Pure: no I/O, no clock. What the objects cannot tell is said to be undecided, never guessed.

pub mod flat;
pub mod helm;
pub mod scheduling;
