//! The server beside a real one: recorded answers, real kubectl, real clients.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test's helpers fail as the test does, and print what was counted"
)]

mod clients;
mod common;
mod kubectl;
mod page;
mod recorded;
