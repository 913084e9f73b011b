//! A CDI specification that NVIDIA's tool writes of the node's cards.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::captured::Captured;
use crate::change::shell::{Line, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Guard, Kind, Refused, RunsOn};

/// Where runtimes look; the last is another name of the second, which is emptied at a boot, so that no specification outlives the cards that it names.
const FOLDERS: [&str; 3] = ["/etc/cdi", "/var/run/cdi", "/run/cdi"];
const NAME: &str = "nvidia.yaml";

/// A node whose cards shall be described.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CdiSpec {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl Kind for CdiSpec {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let node = super::node(self.node.as_deref(), state)?;
        if !state.nodes().contains(&node) {
            return Err(Refused::new(format!(
                "the bundle holds no files of node {node:?}, so its specifications are not known"
            )));
        }
        if let Some(path) = specification(state, &node) {
            return Err(Refused::new(format!(
                "{path} describes cards of NVIDIA already; what is wrong with it has to be read before another is written"
            )));
        }
        Ok(told(&node))
    }
}

/// A collected specification of such cards, whatever it is called: a second one would contradict it.
fn specification(state: &mut Captured, node: &str) -> Option<String> {
    let folders: Vec<String> = FOLDERS
        .iter()
        .map(|folder| super::entry(node, &format!("{folder}/")))
        .collect();
    let paths: Vec<String> = state.paths().map(str::to_owned).collect();
    let mut own = paths
        .into_iter()
        .filter(|path| folders.iter().any(|one| path.starts_with(one)));
    own.find(|path| {
        state
            .now(path)
            .is_some_and(|text| text.contains("nvidia.com/"))
    })
}

fn told(node: &str) -> Applied {
    let path = format!("{}/{NAME}", FOLDERS[1]);
    let generate = || run(Program::NvidiaCtk).words(&["cdi", "generate"]);
    let shown = run(Program::Grep).words(&["-E", "^kind:|^- name:|^  name:|^  - name:"]);
    let missing = FOLDERS.map(|folder| Test::Missing(Word::text(format!("{folder}/{NAME}"))));
    let write = generate().with("--output", Word::text(&path));
    Applied {
        title: format!("Generate the CDI specification of the cards of {node}"),
        actions: vec![Action {
            text: format!("Have nvidia-ctk describe the node's cards in {path}."),
            place: RunsOn::Node(node.to_owned()),
            guard: Some(Guard {
                test: Test::All(missing.to_vec()),
                says: format!("neither {} nor {} holds a {NAME}", FOLDERS[0], FOLDERS[1]),
            }),
            // It prints what it would write.
            dry_run: generate().pipe(shown).into(),
            backup: vec![path.clone()],
            act: Act::Script(Script::from(write)),
            expect: "'nvidia-ctk cdi list' names each card by index and UUID, and all.".into(),
            back: Back::Script(Line::Restore(Word::text(&path)).into()),
            interrupts: "Nothing: runtimes read the specification for the next container.".into(),
        }],
        runtime: vec![format!(
            "nvidia-ctk writes {path} on {node} from the driver that is loaded; only the node shows which devices it names"
        )],
        assumes: vec![
            "nvidia-cdi-refresh, or whatever wrote it before, writes it again after a boot".into(),
        ],
        ..Applied::default()
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![serde_json::json!({"cdi-spec": {"node": trial.node}})]
}
