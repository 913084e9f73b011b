//! Tests of the bundle crate as its users see it.

#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod support;
