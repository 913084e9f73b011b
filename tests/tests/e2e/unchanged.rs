//! Nothing on the host changes: every write below the host's folders would land in a layer that the lab lists.

use std::process::Command;

use casefile_tests::bins;

use crate::support::{CANNOT, Ended, ended, manifest, skip};

fn lab(output: &std::path::Path, program: &std::path::Path, arguments: &[&str]) -> Ended {
    let mut command = Command::new(bins::checkout().join("tests/lab/unchanged"));
    command.arg(output).arg(program).args(arguments);
    ended(command.output().unwrap())
}

#[test]
fn a_run_on_the_machine_itself_changes_no_file_and_leaves_no_process() {
    let test = "a_run_on_the_machine_itself_changes_no_file_and_leaves_no_process";
    let folder = tempfile::tempdir().unwrap();
    // Without this the lab could be blind.
    let script = folder.path().join("changes");
    std::fs::write(
        &script,
        "#!/bin/sh\ntouch /etc/casefile-was-here\nsleep 30 &\n",
    )
    .unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let seen = lab(folder.path(), &script, &[]);
    if seen.code == CANNOT {
        return skip(test, seen.err.trim());
    }
    assert!(seen.out.contains("etc/casefile-was-here"), "{seen:?}");
    assert!(seen.out.contains("process: sleep 30"), "{seen:?}");

    let output = folder.path().join("out");
    std::fs::create_dir(&output).unwrap();
    let arguments = ["--progress", "none", "--timeout", "120s"];
    let seen = lab(&output, &bins::find(bins::COLLECTOR), &arguments);
    assert!(matches!(seen.code, 0 | 4), "{seen:?}");
    // Where ufw was used before, asking it for its status touches the empty lock file that is there already.
    let locked = std::path::Path::new("/run/ufw.lock").exists();
    let touched = |line: &&str| locked && *line == "changed: f 644 0 run/ufw.lock";
    let changes: Vec<_> = seen.out.lines().filter(|line| !touched(line)).collect();
    assert!(changes.is_empty(), "{changes:?} {}", seen.err);
    let files: Vec<_> = std::fs::read_dir(&output).unwrap().collect();
    let [Ok(bundle)] = files.as_slice() else {
        panic!("one file is wanted: {files:?}")
    };
    assert!(!manifest(&bundle.path()).entries.is_empty());
}
