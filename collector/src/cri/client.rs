//! A client of the Container Runtime Interface that can only read: the calls it knows are the list below.

use std::path::Path;
use std::time::Duration;

use http::uri::PathAndQuery;
use tokio::time::timeout;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic_prost::ProstCodec;

/// The most that one answer may take. A runtime that needs longer is stuck, and its silence is the finding.
pub(crate) const CALL_LIMIT: Duration = Duration::from_secs(10);
/// The largest answer, in bytes; the kubelet takes 16 MiB.
const MAX_ANSWER: usize = 32 << 20;
/// Versions of the interface, newest first. Containerd before 1.6 speaks only the second.
const APIS: [&str; 2] = ["runtime.v1", "runtime.v1alpha2"];

/// A call that changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// Name and version of the runtime.
    Version,
    /// Conditions and, asked verbosely, the effective configuration.
    Status,
    /// The cgroup driver (since interface v1 of Kubernetes 1.28).
    RuntimeConfig,
    /// Pod sandboxes.
    ListPodSandbox,
    /// Containers.
    ListContainers,
    /// One container, with the specification that its runtime was given.
    ContainerStatus,
    /// Use of resources by containers.
    ListContainerStats,
    /// Images.
    ListImages,
    /// Room taken by images.
    ImageFsInfo,
    /// containerd's own: its plugins, and why one did not load. Answered where CRI itself is not.
    Plugins,
    /// The kubelet's own: which container was given which device.
    PodResources,
    /// The kubelet's own: which devices it can give.
    Allocatable,
}

/// Every call that the collector can make of a container runtime.
pub(crate) const CALLS: [Call; 10] = [
    Call::Version,
    Call::Status,
    Call::RuntimeConfig,
    Call::ListPodSandbox,
    Call::ListContainers,
    Call::ContainerStatus,
    Call::ListContainerStats,
    Call::ListImages,
    Call::ImageFsInfo,
    Call::Plugins,
];

impl Call {
    /// The package in front of it, where that is not the version of CRI.
    fn package(self) -> Option<&'static str> {
        match self {
            Self::Plugins => Some("containerd.services.introspection.v1"),
            Self::PodResources | Self::Allocatable => Some("v1"),
            _ => None,
        }
    }

    /// Service and method, without the package.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Version => "RuntimeService/Version",
            Self::Status => "RuntimeService/Status",
            Self::RuntimeConfig => "RuntimeService/RuntimeConfig",
            Self::ListPodSandbox => "RuntimeService/ListPodSandbox",
            Self::ListContainers => "RuntimeService/ListContainers",
            Self::ContainerStatus => "RuntimeService/ContainerStatus",
            Self::ListContainerStats => "RuntimeService/ListContainerStats",
            Self::ListImages => "ImageService/ListImages",
            Self::ImageFsInfo => "ImageService/ImageFsInfo",
            Self::Plugins => "Introspection/Plugins",
            Self::PodResources => "PodResourcesLister/List",
            Self::Allocatable => "PodResourcesLister/GetAllocatableResources",
        }
    }
}

/// Why a runtime gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CriError {
    /// Nobody listens, or it may not be asked.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// It did not answer.
    #[error("{call}: no answer within {seconds} s")]
    TimedOut {
        /// Service and method.
        call: &'static str,
        /// How long it was waited for.
        seconds: u64,
    },
    /// It refused.
    #[error("{call}: {code:?}: {message}")]
    Refused {
        /// Service and method.
        call: &'static str,
        /// The gRPC status.
        code: tonic::Code,
        /// What it said.
        message: String,
    },
}

impl CriError {
    /// Whether the server does not know the call or its service at all.
    pub(crate) fn is_unknown_call(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if *code == tonic::Code::Unimplemented)
    }
}

/// A connection to one runtime.
#[derive(Debug)]
pub(crate) struct Client {
    grpc: Grpc<Channel>,
    api: &'static str,
}

impl Client {
    /// Connects to a socket.
    pub(crate) async fn connect(socket: &Path) -> Result<Self, CriError> {
        let refused = |error: tonic::transport::Error| CriError::Connect(chain(&error));
        let endpoint = Endpoint::from_shared(format!("unix://{}", socket.display()))
            .map_err(refused)?
            .user_agent("casefile-collector")
            .map_err(refused)?
            .connect_timeout(CALL_LIMIT);
        let channel = endpoint.connect().await.map_err(refused)?;
        Ok(Self {
            grpc: Grpc::new(channel).max_decoding_message_size(MAX_ANSWER),
            api: APIS[0],
        })
    }

    /// The version of the interface that is spoken: `runtime.v1`, or `runtime.v1alpha2` with an old runtime.
    pub(crate) fn api(&self) -> &'static str {
        self.api
    }

    /// Makes a call; falls back to the older interface where the server does not know the newer one.
    pub(crate) async fn ask<Q, A>(&mut self, call: Call, request: Q) -> Result<A, CriError>
    where
        Q: prost::Message + Clone + Default + 'static,
        A: prost::Message + Default + 'static,
    {
        let answer = self.once(call, request.clone()).await;
        match answer {
            Err(error) if call == Call::Version && error.is_unknown_call() => {
                self.api = APIS[1];
                self.once(call, request).await.map_err(|_| error)
            }
            other => other,
        }
    }

    async fn once<Q, A>(&mut self, call: Call, request: Q) -> Result<A, CriError>
    where
        Q: prost::Message + Default + 'static,
        A: prost::Message + Default + 'static,
    {
        let refused = |code, message| CriError::Refused {
            call: call.path(),
            code,
            message,
        };
        let package = call.package().unwrap_or(self.api);
        let path = PathAndQuery::try_from(format!("/{package}.{}", call.path()))
            .map_err(|error| refused(tonic::Code::Internal, error.to_string()))?;
        let asked = async {
            self.grpc
                .ready()
                .await
                .map_err(|error| CriError::Connect(chain(&error)))?;
            let codec = ProstCodec::<Q, A>::default();
            let answer = self
                .grpc
                .unary(tonic::Request::new(request), path, codec)
                .await;
            answer
                .map(tonic::Response::into_inner)
                .map_err(|status| refused(status.code(), status.message().to_owned()))
        };
        timeout(CALL_LIMIT, asked).await.unwrap_or_else(|_| {
            Err(CriError::TimedOut {
                call: call.path(),
                seconds: CALL_LIMIT.as_secs(),
            })
        })
    }
}

/// An error with all its causes; the transport's own says only "transport error".
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let said = inner.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = inner.source();
    }
    text
}
