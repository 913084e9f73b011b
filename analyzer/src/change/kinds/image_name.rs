//! An image whose name is no reference by its writing alone: capital letters, blanks, a scheme.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::pod_spec::plain;
use super::workload;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A pod with such an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImageName {
    /// `NAMESPACE/NAME` of the pod, also with `pod/` before it.
    pub pod: String,
}

impl Kind for ImageName {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let spec = workload::spec(state, &self.pod)?;
        let mut delta = json!({});
        let mut said = Vec::new();
        for list in ["containers", "initContainers"] {
            let mut own = Vec::new();
            for one in spec[list].as_array().into_iter().flatten() {
                let image = plain(&one["image"]);
                if is_reference(&image) {
                    continue;
                }
                let now = written(&image).ok_or_else(|| {
                    Refused::new(format!("{image:?} lacks a part that only its author knows"))
                })?;
                said.push(format!("{now} for {image:?}"));
                own.push(json!({"name": one["name"], "image": now}));
            }
            if !own.is_empty() {
                delta[list] = own.into();
            }
        }
        if said.is_empty() {
            return Err(Refused::new(format!(
                "each image of {} has a valid name",
                self.pod
            )));
        }
        let title = format!("Write the image {}", said.join(" and "));
        let mut applied = workload::change(state, &self.pod, &delta, &title)?;
        applied.costs.push(format!(
            "{} runs what the registry has under that name ({})",
            self.pod,
            said.join(", ")
        ));
        Ok(applied.only_there(format!(
            "{} pulls the image; only the registry shows whether it has it",
            self.pod
        )))
    }
}

/// The same name as a reference can be written, where nothing but its writing is wrong. Tags keep their letters.
fn written(image: &str) -> Option<String> {
    let text = image.trim();
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let (name, digest) = match text.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (text, None),
    };
    // A colon before a slash is a port's.
    let (name, tag) = match name.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (name, None),
    };
    let mut now = name.to_lowercase();
    now.extend(tag.map(|tag| format!(":{tag}")));
    now.extend(digest.map(|digest| format!("@{digest}")));
    is_reference(&now).then_some(now)
}

/// The grammar of `distribution/reference`: a host's name may have capital letters, a repository none.
fn is_reference(image: &str) -> bool {
    let part = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*";
    let host = r"(?:[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::\d+)?|[A-Za-z0-9-]+:\d+|localhost|\[[0-9A-Fa-f:]+\](?::\d+)?)";
    let text = format!(
        r"^(?:{host}/)?{part}(?:/{part})*(?::\w[\w.-]{{0,127}})?(?:@[A-Za-z][\w+.-]*:[0-9A-Fa-f]{{32,}})?$"
    );
    image.len() < 1024 && Regex::new(&text).is_ok_and(|whole| whole.is_match(image))
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![json!({"image-name": {"pod": format!("g/{}", trial.bad)}})]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_writing_of_a_name_is_mended() {
        for (image, now) in [
            (
                "registry.example/Team/Web:V1",
                Some("registry.example/team/web:V1"),
            ),
            (
                "https://registry.example/web:1",
                Some("registry.example/web:1"),
            ),
            (
                " registry.example:5000/web:1 ",
                Some("registry.example:5000/web:1"),
            ),
            ("registry.example/web:", None),
            ("registry.example/we b:1", None),
            (":1", None),
            ("", None),
        ] {
            assert_eq!(written(image).as_deref(), now, "{image:?}");
        }
        assert!(is_reference("Registry.Example/web:1"));
        assert!(!is_reference("registry.example/Web:1"));
    }
}
