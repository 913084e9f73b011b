//! `casefile-collector`: snapshots a Kubernetes GPU node into one bundle, read-only.

fn main() -> std::process::ExitCode {
    casefile_collector::start()
}
