//! What the program says where there is nothing to ask. Being a test of its own, this file also makes cargo build the
//! program, which the end-to-end tests run.

use std::process::Command;

#[test]
fn a_library_that_is_missing_is_said_in_the_words_of_nvidia_smi() {
    let run = Command::new(env!("CARGO_BIN_EXE_casefile-nvml"))
        .arg("/nonexistent/libnvidia-ml.so.1")
        .output()
        .expect("the program runs");
    let said: serde_json::Value = serde_json::from_slice(&run.stdout).expect("one JSON object");
    let error = said["error"].as_str().unwrap_or_default();
    assert!(run.status.success(), "{run:?}");
    assert!(error.starts_with("Failed to initialize NVML: "), "{said}");
}
