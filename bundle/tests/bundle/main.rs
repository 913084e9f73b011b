//! Tests of the bundle crate as its users see it.

mod round_trip;
mod support;
