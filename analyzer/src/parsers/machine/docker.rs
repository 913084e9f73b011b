//! `docker inspect`, a container a line.

use casefile_bundle::{ANY, Entry};
use serde::Deserialize;

use super::super::node_json::parse_each;
use super::super::{Document, Parsed, Parser, Read};
use super::{quoted, with_lines};
use crate::facts::services::DockerContainer;

/// Reads what Docker says of its own containers.
pub(in crate::parsers) static CONTAINERS: Parser = Parser {
    id: "docker-containers",
    reads: &[Entry::Printed(ANY, "docker-inspect")],
    read: Read::Whole(parse),
};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Inspected {
    name: String,
    state: State,
    config: Config,
    host_config: HostConfig,
    restart_count: u64,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct State {
    status: String,
    exit_code: i64,
    #[serde(rename = "OOMKilled")]
    oom_killed: bool,
    error: String,
    health: Option<Health>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Health {
    status: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Config {
    image: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct HostConfig {
    runtime: String,
    device_requests: Option<Vec<Request>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Request {
    capabilities: Option<Vec<Vec<String>>>,
}

fn parse(document: &Document<'_>) -> Parsed {
    let read = parse_each(document, "container", |one: Inspected, place, _, parsed| {
        let asked = one.host_config.device_requests.unwrap_or_default();
        let mut asked = asked
            .into_iter()
            .flat_map(|one| one.capabilities.unwrap_or_default());
        let data = DockerContainer {
            node: document.node.to_owned(),
            name: one.name.trim_start_matches('/').to_owned(),
            image: one.config.image,
            state: one.state.status,
            exit_code: one.state.exit_code,
            oom_killed: one.state.oom_killed,
            error: one.state.error,
            restarts: one.restart_count,
            health: one.state.health.unwrap_or_default().status,
            runtime: one.host_config.runtime,
            wants_gpus: asked.any(|all| all.iter().any(|name| name == "gpu")),
        };
        let said = format!(
            "{}: {}, exit code {} {}",
            data.name, data.state, data.exit_code, data.error
        );
        parsed.facts.push(quoted(place, said.trim(), data));
    });
    Parsed {
        problems: read.problems,
        ..with_lines(document, read.facts)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::facts;
    use super::*;

    #[test]
    fn a_container_that_cannot_have_its_gpu_says_why() {
        let text = "{\"Id\":\"c\",\"Name\":\"/train\",\"RestartCount\":4,\"State\":{\"Status\":\"exited\",\"ExitCode\":128,\"OOMKilled\":false,\"Error\":\"could not select device driver \\\"\\\" with capabilities: [[gpu]]\"},\
            \"Config\":{\"Image\":\"pytorch:25\"},\"HostConfig\":{\"Runtime\":\"runc\",\"DeviceRequests\":[{\"Driver\":\"\",\"Count\":-1,\"Capabilities\":[[\"gpu\"]]}]}}\n\
            {\"Name\":\"/web\",\"State\":{\"Status\":\"running\",\"Health\":{\"Status\":\"unhealthy\"}},\"HostConfig\":{\"Runtime\":\"nvidia\",\"DeviceRequests\":null}}\n";
        let found =
            facts::<DockerContainer>(&CONTAINERS, "nodes/n1/commands/docker-inspect.out", text);
        let train = &found[0].data;
        assert!(
            train.wants_gpus && train.error.contains("select device driver"),
            "{train:?}"
        );
        assert_eq!(
            (train.exit_code, train.restarts, train.name.as_str()),
            (128, 4, "train")
        );
        let web = &found[1].data;
        assert_eq!(
            (web.health.as_str(), web.runtime.as_str(), web.wants_gpus),
            ("unhealthy", "nvidia", false)
        );
    }
}
