//! An admission webhook that does not answer: objects are taken without it until it does.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::object::Named;
use super::object_patch::ObjectPatch;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// The two kinds of configuration that register webhooks.
const KINDS: [&str; 2] = [
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
];

/// What the API server said of the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookPolicy {
    /// A text with `failed calling webhook "NAME"`.
    pub sentence: String,
}

impl Kind for WebhookPolicy {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let webhook = called(&self.sentence)
            .ok_or_else(|| Refused::new("the message names no webhook that was called"))?;
        let named = configuration(state, &webhook)?;
        let patch = ObjectPatch {
            how: "strategic",
            fields: json!({"webhooks": [{"name": webhook, "failurePolicy": "Ignore"}]}),
            title: format!(
                "Let the API server go on without webhook {webhook} of {named} while it does not answer"
            ),
            follows: "objects that were refused are made with the next attempt of their controller"
                .into(),
            interrupts: "Nothing; what is made meanwhile is not checked or changed by the webhook."
                .into(),
            named,
        };
        let mut applied = patch.applied(state)?;
        applied.costs.push(format!(
            "what webhook {webhook} checks or changes is made without it while it does not answer"
        ));
        Ok(applied)
    }
}

fn called(sentence: &str) -> Option<String> {
    let call = Regex::new(r#"failed calling webhook \\*"([^"\\\s]+)\\*""#).ok()?;
    Some(call.captures(sentence)?[1].to_owned())
}

/// The one configuration that has the webhook and fails without it.
fn configuration(state: &mut Captured, webhook: &str) -> Result<Named, Refused> {
    let mut found = Vec::new();
    let mut open = false;
    for kind in KINDS {
        let path = Named::new(kind, None, "x").entry();
        let list = state.now(&path).unwrap_or_default();
        let list: Value = serde_json::from_str(&list).unwrap_or_default();
        for item in list["items"].as_array().into_iter().flatten() {
            let mut own = item["webhooks"].as_array().into_iter().flatten();
            let Some(hook) = own.find(|one| one["name"] == webhook) else {
                continue;
            };
            open |= hook["failurePolicy"] == "Ignore";
            found.extend(
                item["metadata"]["name"]
                    .as_str()
                    .map(|name| Named::new(kind, None, name)),
            );
        }
    }
    match found.as_slice() {
        [_] if open => Err(Refused::new(format!(
            "the API server goes on without webhook {webhook} already (failurePolicy Ignore)"
        ))),
        [one] => Ok(one.clone()),
        [] => Err(Refused::new(format!(
            "no collected webhook configuration has a webhook {webhook}"
        ))),
        _ => Err(Refused::new(format!(
            "several webhook configurations have a webhook {webhook}; a person has to choose one"
        ))),
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![
        json!({"webhook-policy": {"sentence": format!("failed calling webhook \"{}\"", trial.bad)}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::called;

    #[test]
    fn the_webhook_is_the_one_that_the_message_names() {
        let said = "Internal error occurred: failed calling webhook \\\"v.k.svc\\\": failed to call webhook: EOF";
        assert_eq!(called(said).as_deref(), Some("v.k.svc"));
        assert_eq!(
            called("admission webhook \"v.k.svc\" denied the request"),
            None
        );
    }
}
