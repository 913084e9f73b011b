//! A patch of one object whose effect only the cluster shows: what controllers make of it is in no bundle.

use serde_json::Value;

use super::kube_object::{put_back, same};
use super::object::Named;
use crate::change::captured::Captured;
use crate::change::shell::{Script, Word};
use crate::change::{Act, Action, Applied, Back, Refused, RunsOn};

/// An object and the fields that it gets.
pub(super) struct ObjectPatch {
    pub(super) named: Named,
    /// `strategic` where lists merge by a key, `merge` where they are replaced.
    pub(super) how: &'static str,
    pub(super) fields: Value,
    /// What it does, as a sentence without a full stop.
    pub(super) title: String,
    /// What follows on the cluster, as a sentence without a full stop.
    pub(super) follows: String,
    pub(super) interrupts: String,
}

impl ObjectPatch {
    /// The step. The object has to be in the bundle, since a name alone is no proof that it is meant.
    pub(super) fn applied(self, state: &mut Captured) -> Result<Applied, Refused> {
        let named = &self.named;
        named.check()?;
        let object = named
            .read(state)
            .ok_or_else(|| Refused::new(format!("{} holds no {named} to change", named.entry())))?;
        let fields = self.fields.to_string();
        let patch = || {
            named
                .kubectl(&["patch"])
                .with("--type", Word::Fixed(self.how))
                .with("-p", Word::text(&fields))
        };
        let saved = state.fresh_name(&format!("{}.yaml", named.file()));
        let uid = object["metadata"]["uid"].as_str();
        let action = Action {
            text: format!("{}.", self.title),
            place: RunsOn::Cluster,
            guard: Some(same(named, uid)),
            dry_run: named.differs(patch()),
            backup: Vec::new(),
            act: Act::Script(Script::from(named.save(&saved)).run(patch())),
            expect: format!("'kubectl get {} -o yaml' shows the change.", named.target()),
            back: Back::Script(put_back(&saved)),
            interrupts: self.interrupts,
        };
        Ok(Applied {
            title: self.title,
            actions: vec![action],
            runtime: vec![format!("{}; only the cluster shows it", self.follows)],
            ..Applied::default()
        })
    }
}
