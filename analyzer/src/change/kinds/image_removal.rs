//! An image of a node that is removed, so that it is pulled again; or all that no container uses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::captured::Captured;
use crate::change::shell::{Command, Line, Program, Script, Test, run};
use crate::change::{Act, Action, Applied, Back, Guard, Kind, Refused, RunsOn};

/// A node, and what goes from its image store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImageRemoval {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The image, by name or digest; all that no container uses if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

impl Kind for ImageRemoval {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let node = super::node(self.node.as_deref(), state)?;
        match &self.image {
            Some(image) => {
                check(image)?;
                Ok(one(&node, image))
            }
            None => Ok(unused(&node)),
        }
    }
}

/// Refuses what can be no name of an image.
fn check(image: &str) -> Result<(), Refused> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/:@".contains(&byte);
    let begins = image.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins && image.len() < 512 && image.bytes().all(plain) {
        return Ok(());
    }
    Err(Refused::new(format!("{image:?} is no name of an image")))
}

fn crictl(verb: &'static str) -> Command {
    run(Program::Crictl).word(verb)
}

fn one(node: &str, image: &str) -> Applied {
    let there = || Test::Succeeds(crictl("inspecti").text(image).quiet());
    let pulled = Line::Say("the next pod that needs the image pulls it");
    let back = Line::If(
        there(),
        Line::Say("the image is there").into(),
        pulled.into(),
    );
    let mut action = step(
        node,
        format!("Remove the image {image}; the next pod that needs it pulls it again."),
        Script::from(crictl("rmi").text(image)),
        Back::Script(back.into()),
    );
    action.guard = Some(Guard {
        test: there(),
        says: format!("the image {image} is on the node"),
    });
    action.expect = format!("'crictl inspecti {image}' finds nothing, until a pod pulled it.");
    action.interrupts = "Nothing that runs: containers keep what they started from.".into();
    Applied {
        title: format!("Remove the image {image} from {node}"),
        actions: vec![action],
        runtime: vec![format!(
            "{node} pulls {image} again; only the node shows whether its registry answers and the disk keeps it whole"
        )],
        costs: vec![format!(
            "no pod that needs {image} starts on {node} until a registry has answered; other names of the same image go with it"
        )],
        ..Applied::default()
    }
}

fn unused(node: &str) -> Applied {
    let gone = Line::Say("images that were removed come back when a pod needs them");
    let mut action = step(
        node,
        "Remove the images that no container uses.".to_owned(),
        Script::from(crictl("rmi").word("--prune")),
        Back::Script(gone.into()),
    );
    action.expect = "'crictl imagefsinfo' shows more room.".into();
    action.interrupts = "Nothing that runs; pods that need such an image start later, or not where no registry answers.".into();
    Applied {
        title: format!("Remove the images of {node} that no container uses"),
        actions: vec![action],
        runtime: vec![format!(
            "images that no container of {node} uses are removed; only the node shows how much room that makes"
        )],
        costs: vec![format!("images of {node} that exist nowhere else are lost")],
        ..Applied::default()
    }
}

fn step(node: &str, text: String, act: Script, back: Back) -> Action {
    Action {
        text,
        place: RunsOn::Node(node.to_owned()),
        guard: None,
        dry_run: crictl("images").into(),
        backup: Vec::new(),
        act: Act::Script(act),
        expect: String::new(),
        back,
        interrupts: String::new(),
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"image-removal": {"image": "registry.local/team/train:1"}}),
        serde_json::json!({"image-removal": {"image": trial.bad}}),
        serde_json::json!({"image-removal": {}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_name_of_an_image_is_no_option_and_no_command() {
        assert!(check("registry.local:5000/team/train@sha256:0a").is_ok());
        for bad in ["--all", "-a", "a b", "$(x)", ""] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
