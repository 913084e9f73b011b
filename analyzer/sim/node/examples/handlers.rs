//! Which runtime handlers a containerd has after merging and migrating its configuration, and whether it starts:
//! a file named as the argument, else a version 2 file that drops in NVIDIA's runtime.
//!
//! `cargo run -p casefile-sim-node --example handlers -- /etc/containerd/config.toml "containerd 1.7.24"`

use std::error::Error;
use std::io::Write;

use casefile_sim_node::containerd::{MapTree, RootFile, cri_view, resolve};

const ROOT: &str = "/etc/containerd/config.toml";
const FILE: &str = r#"version = 2
[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "nvidia"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
BinaryName = "/usr/bin/nvidia-container-runtime"
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let text = match args.next() {
        Some(path) => std::fs::read_to_string(path)?,
        None => FILE.to_owned(),
    };
    let version = args.next();
    let mut tree = MapTree::new();
    tree.add(ROOT, "config.toml", &text);
    let root = RootFile {
        path: ROOT,
        explicit: true,
    };
    let config = resolve(
        &tree,
        root,
        version.as_deref().or(Some("containerd 1.7.24")),
    );
    let cri = cri_view(&config);
    let mut out = std::io::stdout().lock();
    let release = config.containerd.release.name();
    writeln!(
        out,
        "rules of {release}; CRI available: {:?}",
        cri.available
    )?;
    writeln!(out, "default handler: {}", cri.default_runtime_name.value)?;
    for (name, handler) in &cri.handlers {
        let place = handler.place.as_ref().map(ToString::to_string);
        writeln!(out, "  {name}: {}", place.as_deref().unwrap_or("built in"))?;
    }
    for problem in config.problems.iter().chain(&cri.problems) {
        writeln!(out, "problem: {problem}")?;
    }
    Ok(())
}
