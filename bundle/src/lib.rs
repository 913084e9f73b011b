//! The bundle format.
