//! The questions to one runtime, each of which may fail without costing the others.

use std::path::PathBuf;

use casefile_bundle::Entry;
use serde::Serialize;

use super::Row;
use super::endpoints::Endpoint;
use super::shape::{by_line, flat};
use crate::cri::messages::{
    Container, ContainerStatsList, ContainerStatusRequest, ContainerStatusResponse, Containers,
    Everything, ImageFsInfo, Images, Plugins, RUNNING, RuntimeConfigResponse, Sandboxes,
    StatusRequest, StatusResponse, VersionRequest, VersionResponse,
};
use crate::cri::{Call, Client, CriError, without_secrets};
use crate::files::json_lines;
use crate::redact::Content;
use crate::source::SourceCtx;
use crate::take::{Need, Tally};

/// Containers whose specification is asked for: those that do not run and those of GPU components first, the newest first.
const MAX_DETAILS: usize = 200;
/// Names that make a container worth a closer look though it runs.
const GPU_WORDS: [&str; 6] = ["nvidia", "gpu", "hami", "vgpu", "dcgm", "cuda"];

/// The questions to one runtime.
pub(super) struct Asked<'a> {
    pub(super) ctx: &'a SourceCtx,
    pub(super) endpoint: &'a Endpoint,
}

impl Asked<'_> {
    pub(super) async fn all(&self, row: &mut Row, tally: &mut Tally) {
        let real = match self.real().await {
            Ok(real) => real,
            Err(why) => {
                row.error = Some(why.clone());
                let need = if self.endpoint.kubelet {
                    Need::Wanted
                } else {
                    Need::Optional
                };
                return tally.absent(&self.ctx.out, need, why);
            }
        };
        let mut client = match self.or_cancelled(Client::connect(&real)).await {
            Ok(client) => client,
            Err(error) => {
                row.error = Some(error.to_string());
                return self.silent(&error, tally);
            }
        };
        let version = VersionRequest {
            version: "v1".to_owned(),
        };
        let asked = client.ask::<_, VersionResponse>(Call::Version, version);
        let version = match self.or_cancelled(asked).await {
            Ok(version) => version,
            Err(error) => {
                row.error = Some(error.to_string());
                self.silent(&error, tally);
                if error.is_unknown_call() {
                    self.plugins(&mut client, tally).await;
                }
                return;
            }
        };
        row.runtime = Some(version.runtime_name.clone());
        row.version = Some(version.runtime_version.clone());
        row.api = Some(client.api());
        self.put_value("version.json", &version, tally).await;
        self.status(&mut client, tally).await;
        self.config(&mut client, tally).await;
        self.lists(&mut client, tally).await;
        if version.runtime_name == "containerd" {
            self.plugins(&mut client, tally).await;
        }
    }

    /// Where the socket lies: on the host, or in the mount namespace of the process that serves it.
    async fn real(&self) -> Result<PathBuf, String> {
        let (socket, pid) = (self.endpoint.socket.clone(), self.endpoint.pid);
        let found = self.ctx.host.on_thread(move |host| {
            let inside = pid.map(|pid| format!("/proc/{pid}/root{socket}"));
            let place = std::iter::once(socket.clone())
                .chain(inside)
                .find(|path| host.exists(path));
            place
                .map_or_else(
                    || host.metadata(&socket).map(|_| PathBuf::new()),
                    |path| host.resolve(&path),
                )
                .map_err(|error| error.sentence())
        });
        found
            .await
            .unwrap_or_else(|| Err(format!("{} cannot be looked for", self.endpoint.socket)))
    }

    async fn or_cancelled<T>(
        &self,
        work: impl Future<Output = Result<T, CriError>>,
    ) -> Result<T, CriError> {
        tokio::select! {
            done = work => done,
            () = self.ctx.cancel.cancelled() => Err(CriError::Connect("the time was up".to_owned())),
        }
    }

    /// No first answer. That a containerd does not serve CRI at all is a fact about it, not a failure to look.
    fn silent(&self, error: &CriError, tally: &mut Tally) {
        let Endpoint {
            socket, kubelet, ..
        } = self.endpoint;
        if error.is_unknown_call() {
            let what = format!(
                "{socket} does not serve CRI (the plugin is disabled or failed to load): {error}"
            );
            let need = if *kubelet {
                Need::Wanted
            } else {
                Need::Optional
            };
            return tally.absent(&self.ctx.out, need, what);
        }
        tally.broken(&self.ctx.out, format!("{socket}: {error}"));
    }

    /// Asks; what goes wrong is in the tally.
    async fn ask<Q, A>(
        &self,
        client: &mut Client,
        call: Call,
        question: Q,
        tally: &mut Tally,
    ) -> Option<A>
    where
        Q: prost::Message + Clone + Default + 'static,
        A: prost::Message + Default + 'static,
    {
        match self.or_cancelled(client.ask(call, question)).await {
            Ok(answer) => Some(answer),
            Err(error) if error.is_unknown_call() => {
                let what = format!("{}: {error}", self.endpoint.socket);
                tally.absent(&self.ctx.out, Need::Optional, what);
                None
            }
            Err(error) => {
                tally.broken(&self.ctx.out, format!("{}: {error}", self.endpoint.socket));
                None
            }
        }
    }

    async fn status(&self, client: &mut Client, tally: &mut Tally) {
        let question = StatusRequest { verbose: true };
        let Some(answer) = self
            .ask::<_, StatusResponse>(client, Call::Status, question, tally)
            .await
        else {
            return;
        };
        let text = by_line(flat(&answer, &answer.info));
        self.put("status.json", &text, tally).await;
    }

    async fn config(&self, client: &mut Client, tally: &mut Tally) {
        let asked = self
            .ask::<_, RuntimeConfigResponse>(client, Call::RuntimeConfig, Everything {}, tally)
            .await;
        if let Some(answer) = asked {
            self.put_value("runtime-config.json", &answer, tally).await;
        }
    }

    /// containerd's plugins, with the reason where one did not load.
    async fn plugins(&self, client: &mut Client, tally: &mut Tally) {
        let asked = self
            .ask::<_, Plugins>(client, Call::Plugins, Everything {}, tally)
            .await;
        if let Some(answer) = asked {
            self.put(
                "plugins.json",
                &json_lines("plugins", &answer.plugins),
                tally,
            )
            .await;
        }
    }

    async fn lists(&self, client: &mut Client, tally: &mut Tally) {
        let all = Everything {};
        if let Some(answer) = self
            .ask::<_, Sandboxes>(client, Call::ListPodSandbox, all.clone(), tally)
            .await
        {
            self.put("pods.json", &json_lines("items", &answer.items), tally)
                .await;
        }
        if let Some(answer) = self
            .ask::<_, Containers>(client, Call::ListContainers, all.clone(), tally)
            .await
        {
            self.put(
                "containers.json",
                &json_lines("containers", &answer.containers),
                tally,
            )
            .await;
            self.details(client, answer.containers, tally).await;
        }
        if let Some(answer) = self
            .ask::<_, Images>(client, Call::ListImages, all.clone(), tally)
            .await
        {
            self.put("images.json", &json_lines("images", &answer.images), tally)
                .await;
        }
        if let Some(answer) = self
            .ask::<_, ImageFsInfo>(client, Call::ImageFsInfo, all.clone(), tally)
            .await
        {
            self.put_value("image-fs.json", &answer, tally).await;
        }
        if let Some(answer) = self
            .ask::<_, ContainerStatsList>(client, Call::ListContainerStats, all, tally)
            .await
        {
            self.put("stats.json", &json_lines("stats", &answer.stats), tally)
                .await;
        }
    }

    /// The state and specification of containers that do not run or have to do with GPUs.
    async fn details(
        &self,
        client: &mut Client,
        mut containers: Vec<Container>,
        tally: &mut Tally,
    ) {
        containers.retain(|one| one.state != RUNNING || concerns_gpus(one));
        containers.sort_by_key(|one| (one.state == RUNNING, std::cmp::Reverse(one.created_at)));
        let left_out = containers.len().saturating_sub(MAX_DETAILS);
        if left_out > 0 {
            let what = format!(
                "{}: the state of {left_out} older containers was not asked for",
                self.endpoint.socket
            );
            tally.broken(&self.ctx.out, what);
        }
        let mut rows = Vec::new();
        for container in containers.into_iter().take(MAX_DETAILS) {
            let question = ContainerStatusRequest {
                container_id: container.id.clone(),
                verbose: true,
            };
            match self
                .or_cancelled(
                    client.ask::<_, ContainerStatusResponse>(Call::ContainerStatus, question),
                )
                .await
            {
                Ok(answer) => rows.push(flat(&answer, &answer.info)),
                // Removed since it was listed.
                Err(CriError::Refused {
                    code: tonic::Code::NotFound,
                    ..
                }) => {}
                Err(error) => {
                    tally.broken(
                        &self.ctx.out,
                        format!(
                            "{}: container {}: {error}",
                            self.endpoint.socket, container.id
                        ),
                    );
                    if !matches!(error, CriError::Refused { .. }) {
                        break;
                    }
                }
            }
        }
        if !rows.is_empty() {
            self.put(
                "container-status.json",
                &json_lines("containers", rows),
                tally,
            )
            .await;
        }
    }

    async fn put_value(&self, name: &str, value: &impl Serialize, tally: &mut Tally) {
        let mut value = serde_json::to_value(value).unwrap_or_default();
        without_secrets(&mut value);
        self.put(name, &format!("{value}\n"), tally).await;
    }

    async fn put(&self, name: &str, text: &str, tally: &mut Tally) {
        let out = &self.ctx.out;
        let path = out.path(Entry::Node, &format!("cri/{}/{name}", self.endpoint.id));
        let origin = Some(format!("CRI {}", self.endpoint.socket));
        match out
            .put(path, Content::JsonLines, origin, text.as_bytes())
            .await
        {
            Ok(()) => tally.taken += 1,
            Err(error) => tally.broken(out, format!("cri/{}/{name}: {error}", self.endpoint.id)),
        }
    }
}

fn concerns_gpus(container: &Container) -> bool {
    let name = container
        .metadata
        .as_ref()
        .map_or("", |meta| meta.name.as_str());
    let labels = container.labels.values().map(String::as_str);
    std::iter::once(name).chain(labels).any(|text| {
        let text = text.to_lowercase();
        GPU_WORDS.iter().any(|word| text.contains(word))
    })
}
