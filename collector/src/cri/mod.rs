//! The container runtime's own word, over the socket that the kubelet uses. Only calls that read.

mod client;
mod hide;
pub(crate) mod messages;
pub(crate) mod pod_resources;

pub(crate) use client::{CALLS, Call, Client, CriError};
pub(crate) use hide::without_secrets;
