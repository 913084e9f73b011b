//! Tests of the bundle crate as its users see it.

#[cfg(test)]
mod containers;
#[cfg(test)]
mod flips;
#[cfg(test)]
mod foreign;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod seven;
#[cfg(test)]
mod support;
#[cfg(test)]
mod versions;
