//! An annotation of an object.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::label::{self, Meta};
use super::object::Named;
use crate::fix::captured::Captured;
use crate::fix::change::{Applied, Kind, Refused};

/// An object, and an annotation that it shall have or lose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Annotation {
    /// Kind as in a manifest, e.g. `Node`.
    pub kind: String,
    /// Namespace; none for nodes and namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
    /// Key.
    pub key: String,
    /// Value; none removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

impl Kind for Annotation {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let named = Named::new(&self.kind, self.namespace.as_deref(), &self.name);
        label::set(
            state,
            &named,
            Meta::Annotations,
            &self.key,
            self.value.as_deref(),
        )
    }
}
