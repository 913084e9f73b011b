//! The NVIDIA Management Library (NVML), asked directly where nvidia-smi is missing and the library is there. A part of
//! the source `nvidia_smi`.

use std::path::PathBuf;

use crate::exec::{self, Call, Exec};
use crate::host::Host;
use crate::source::{PlanCtx, PlanItem, SourceCtx};
use crate::take::{Need, Tally};

/// Where distributions, driver containers and clouds put it.
const LIBRARIES: [&str; 11] = [
    "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
    "/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
    "/usr/lib64/libnvidia-ml.so.1",
    "/usr/lib/libnvidia-ml.so.1",
    "/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
    "/home/kubernetes/bin/nvidia/lib64/libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
    "/run/nvidia/driver/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
    "/run/nvidia/driver/usr/lib64/libnvidia-ml.so.1",
];
/// The program of builds that do not carry it.
const PROGRAM: &str = "casefile-nvml";

/// What it would do, for the plan.
pub fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    let mut items: Vec<PlanItem> = LIBRARIES.iter().map(|path| PlanItem::file(*path)).collect();
    if ctx.options.live()
        && let Some(spec) = exec::find("nvml")
    {
        let program = program(ctx.exec).ok();
        let line = Call::new(spec).with(
            "program",
            "<casefile-nvml, carried inside, run from memory>",
        );
        items.push(PlanItem::Command {
            program,
            line: ctx.exec.line(&line),
        });
    }
    items
}

/// Asks the library, if it is there.
pub async fn ask(ctx: &SourceCtx, tally: &mut Tally) {
    let library = ctx.host.on_thread(find).await.flatten();
    let (Some(library), Some(spec)) = (library, exec::find("nvml")) else {
        return;
    };
    match program(&ctx.exec) {
        Ok(program) => {
            let call = Call::new(spec).with("program", &program.display().to_string());
            ctx.call(&call.with("library", &library), Need::Wanted, tally)
                .await;
        }
        Err(why) => tally.broken(&ctx.out, format!("{library} was not asked: {why}")),
    }
}

fn find(host: &Host) -> Option<String> {
    let mut there = LIBRARIES.iter().filter(|path| host.exists(path));
    there.next().map(|path| (*path).to_owned())
}

fn program(exec: &Exec) -> Result<PathBuf, String> {
    match exec::carried::nvml() {
        Some(Ok(path)) => Ok(path),
        Some(Err(error)) => Err(format!(
            "the program for it cannot be run from memory: {error}"
        )),
        None => exec
            .resolve(PROGRAM)
            .ok_or_else(|| format!("this build does not carry {PROGRAM}, and none is installed")),
    }
}
