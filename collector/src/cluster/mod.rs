//! The cluster's API: where its credentials lie on this node, and one connection that all sources share.

use std::sync::Arc;

use crate::host::Host;
use crate::options::Options;

/// A lazy, shared connection to the API server.
pub struct ClusterHandle {
    _options: Arc<Options>,
    _host: Host,
}

impl ClusterHandle {
    /// Does nothing but remember where to look; the first use connects.
    pub fn new(options: Arc<Options>, host: Host) -> Self {
        Self {
            _options: options,
            _host: host,
        }
    }
}
