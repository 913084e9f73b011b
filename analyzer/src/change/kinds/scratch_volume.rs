//! A folder that a program writes and may not: an empty volume in its place.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::workload;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// Folders whose content the image's programs need: an empty volume would hide it.
const OF_THE_IMAGE: [&str; 10] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr",
];

/// A container, and what it said when it was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScratchVolume {
    /// `NAMESPACE/NAME` of the pod.
    pub pod: String,
    /// Container.
    pub container: String,
    /// Its last words, with the path that it could not write.
    pub words: String,
}

impl Kind for ScratchVolume {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let spec = workload::spec(state, &self.pod)?;
        let path = folder(&self.words).map_err(Refused::new)?;
        self.check(&spec, &path)?;
        let volume = format!(
            "scratch{}",
            path.to_lowercase()
                .replace(|c: char| !c.is_ascii_alphanumeric(), "-")
        );
        let volume: String = volume.chars().take(63).collect();
        let volume = volume.trim_end_matches('-');
        let delta = json!({
            "volumes": [{"name": volume, "emptyDir": {}}],
            "containers": [{"name": self.container, "volumeMounts": [{"name": volume, "mountPath": path}]}],
        });
        let title = format!("Mount an empty volume at {path}");
        let mut applied = workload::change(state, &self.pod, &delta, &title)?;
        applied.costs.push(format!(
            "what container {} of {} writes to {path} is lost with the pod, and what its image has there is hidden",
            self.container, self.pod
        ));
        Ok(applied)
    }
}

impl ScratchVolume {
    /// Refuses a folder that a volume of the pod holds: then that volume is what is read-only.
    fn check(&self, spec: &Value, path: &str) -> Result<(), Refused> {
        let own = spec["containers"].as_array().into_iter().flatten();
        let own = own
            .into_iter()
            .find(|one| one["name"] == self.container.as_str());
        let own = own.ok_or_else(|| {
            Refused::new(format!(
                "{} has no container {:?}",
                self.pod, self.container
            ))
        })?;
        let mounts = own["volumeMounts"].as_array().into_iter().flatten();
        let below = |mount: &str| {
            path == mount || path.starts_with(&format!("{}/", mount.trim_end_matches('/')))
        };
        let held = mounts
            .filter_map(|one| one["mountPath"].as_str())
            .find(|mount| below(mount));
        match held {
            Some(mount) => Err(Refused::new(format!(
                "{path} lies in the volume at {mount}, so it is that volume which cannot be written"
            ))),
            None => Ok(()),
        }
    }
}

/// The folder that has to take the path: its parent, or the path itself at the top.
fn folder(words: &str) -> Result<String, String> {
    let wanted = Regex::new(r#"(?:^|[\s'"`(=:])(/[A-Za-z0-9._@+-]+(?:/[A-Za-z0-9._@+-]+)*)"#)
        .map_err(|error| error.to_string())?;
    let mut all: Vec<&str> = wanted
        .captures_iter(words)
        .filter_map(|found| found.get(1))
        .map(|one| one.as_str().trim_end_matches(['.', ':']))
        .collect();
    all.dedup();
    let [path] = all.as_slice() else {
        return Err(format!(
            "the last words name {} paths, so the folder is not known",
            all.len()
        ));
    };
    if path.split('/').any(|part| part == "..") {
        return Err(format!("{path} is no path of a folder"));
    }
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let folder = if parent.is_empty() { *path } else { parent };
    let of_image = |own: &&&str| folder == **own || folder.starts_with(&format!("{own}/"));
    match OF_THE_IMAGE.iter().find(of_image) {
        Some(own) => Err(format!(
            "{folder} lies in {own}, where the image has its programs and settings; an empty volume would hide them"
        )),
        None => Ok(folder.to_owned()),
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    let words = format!("Read-only file system: '/data/{}'", trial.segment);
    vec![
        json!({"scratch-volume": {"pod": format!("a/{}", trial.bad), "container": trial.bad, "words": words}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::folder;

    #[test]
    fn the_folder_is_the_parent_of_what_could_not_be_written() {
        assert_eq!(
            folder("OSError: [Errno 30] Read-only file system: '/tmp/cache'").as_deref(),
            Ok("/tmp")
        );
        assert_eq!(
            folder("mkdir: can't create directory '/data': Read-only file system").as_deref(),
            Ok("/data")
        );
        assert_eq!(
            folder("open /var/run/app/x.pid: read-only file system").as_deref(),
            Ok("/var/run/app")
        );
        assert!(
            folder("nginx: mkdir() \"/etc/nginx/x\" failed (30: Read-only file system)")
                .unwrap_err()
                .contains("hide")
        );
        assert!(
            folder("Read-only file system")
                .unwrap_err()
                .contains("0 paths")
        );
        assert!(
            folder("cp /a/b to /c/d: Read-only file system")
                .unwrap_err()
                .contains("2 paths")
        );
    }
}
