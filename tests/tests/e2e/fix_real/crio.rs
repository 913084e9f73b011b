//! CRI-O's drop-in, read by a real CRI-O: the program's own word on what the change makes of the captured files.
//!
//! No package has CRI-O for this machine, so that the test is skipped where the program is not; what it said when it was
//! there is recorded below. Started with the same folders (`crio status config`), it names the same two and three.

use std::path::Path;
use std::process::Command;

use super::{Row, state, what_if, written};
use crate::support::{ended, skip};

const FOLDER: &str = "nodes/n1/rootfs/etc/crio/crio.conf.d";
const DROP_IN: &str = "99-nvidia-hooks.conf";
/// What `crio --config-dir FOLDER config` of CRI-O 1.37.0 printed of the captured file, and with the drop-in beside it: a
/// list replaces the one of the file before, so that the drop-in has to repeat what the site's own files name.
const BEFORE: &str = r#"
[crio.runtime]
hooks_dir = [
	"/usr/share/containers/oci/hooks.d",
	"/etc/containers/oci/hooks.d",
]
"#;
const AFTER: &str = r#"
[crio.runtime]
hooks_dir = [
	"/usr/share/containers/oci/hooks.d",
	"/etc/containers/oci/hooks.d",
	"/run/containers/oci/hooks.d",
]
"#;

pub(super) const ROW: Row = Row {
    kind: "host-file (CRI-O)",
    program: "crio",
    state: "runtime/crio-hooks-dir-not-configured#the collected CRI-O",
    cause: "crio-hooks-dir-not-configured",
    proposal: None,
    before: "",
    faulty: "",
};

/// `hooks_dir` of what `crio config` prints.
fn hooks(printed: &str) -> Vec<String> {
    let all: toml::Table = toml::from_str(printed).unwrap();
    let hooks = all["crio"]["runtime"]["hooks_dir"].as_array().unwrap();
    let each = hooks.iter().map(|one| one.as_str().unwrap().to_owned());
    each.collect()
}

fn asked(folder: &Path) -> Vec<String> {
    let mut crio = Command::new("crio");
    let main = folder.with_file_name("crio.conf");
    std::fs::write(&main, "").unwrap();
    crio.arg("--config").arg(main);
    crio.arg("--config-dir").arg(folder).arg("config");
    let said = ended(crio.output().unwrap());
    assert_eq!(said.code, 0, "{said:?}");
    hooks(&said.out)
}

/// The captured drop-ins, in a folder, and the one that `fix` hands over.
fn drop_ins(folder: &Path) -> String {
    let input = state(ROW.state, folder);
    what_if(&ROW, &input, folder);
    let handed = written(&ROW, folder).join(DROP_IN);
    let own = folder.join("crio.conf.d");
    std::fs::create_dir(&own).unwrap();
    let captured = input.join(FOLDER).join("10-crio.conf");
    std::fs::copy(captured, own.join("10-crio.conf")).unwrap();
    std::fs::read_to_string(handed).unwrap()
}

#[test]
fn the_real_crio_reads_both_folders_after_the_change() {
    let test = "the_real_crio_reads_both_folders_after_the_change";
    if Command::new("crio").arg("--version").output().is_err() {
        skip(test, "needs crio, to read the drop-in");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let handed = drop_ins(folder.path());
    let own = folder.path().join("crio.conf.d");
    assert_eq!(asked(&own), hooks(BEFORE));
    std::fs::write(own.join(DROP_IN), handed).unwrap();
    assert_eq!(asked(&own), hooks(AFTER));
}

#[test]
fn what_is_handed_over_says_what_crio_was_recorded_to_read() {
    let folder = tempfile::tempdir().unwrap();
    let handed = drop_ins(folder.path());
    assert_eq!(hooks(&handed), hooks(AFTER));
    let captured = folder.path().join("crio.conf.d/10-crio.conf");
    let captured = std::fs::read_to_string(captured).unwrap();
    assert_eq!(hooks(&captured), hooks(BEFORE));
}
