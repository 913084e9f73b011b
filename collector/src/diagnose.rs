//! `casefile-collector diagnose`: collects, and lets the analyzer say in a few lines what is wrong, where it lies on this
//! machine. The collector judges nothing itself.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::exec::DIRS;

const ANALYZER: &str = "casefile-analyzer";
/// A large bundle takes the analyzer seconds.
const LIMIT: Duration = Duration::from_secs(120);
/// The first screen of a report is far shorter.
const MAX_ANSWER: u64 = 64 << 10;
/// What of the first screen is shown here: it begins with a title.
const SHOWN: [&str; 2] = ["Cause", "Fix"];

/// Why nothing is diagnosed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DiagnoseError {
    /// The analyzer is not on this machine.
    #[error(
        "{ANALYZER} is not on this machine (looked beside this program and in {}): put it beside this program, or take \
         the bundle to where it is", DIRS.join(", ")
    )]
    NotHere,
    /// It cannot be started, or its answer not be read.
    #[error("{}: {why}", .program.display())]
    Failed {
        /// The analyzer.
        program: PathBuf,
        /// What went wrong.
        why: String,
    },
}

/// Where the analyzer lies: in the folder of tests, beside this program, or where programs are installed.
pub(crate) fn find(first: Option<&Path>) -> Result<PathBuf, DiagnoseError> {
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent);
    let fixed = DIRS.iter().map(Path::new);
    let mut folders = first.into_iter().chain(beside).chain(fixed);
    folders
        .find_map(|folder| Some(folder.join(ANALYZER)).filter(|path| path.is_file()))
        .ok_or(DiagnoseError::NotHere)
}

/// What the analyzer says of a bundle: its title, the cause and the fix.
pub(crate) fn ask(program: &Path, bundle: &str) -> Result<String, DiagnoseError> {
    let failed = |why: String| DiagnoseError::Failed {
        program: program.to_owned(),
        why,
    };
    let mut child = Command::new(program)
        .args(["diagnose", "--format", "ticket", bundle])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let pipe = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(pipe) = pipe {
            let _ = pipe.take(MAX_ANSWER).read_to_end(&mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    });
    let clock = Instant::now();
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if clock.elapsed() > LIMIT => {
                let _ = child.kill();
                let _ = child.wait();
                break Err(format!("no answer within {} s", LIMIT.as_secs()));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => break Err(error.to_string()),
        }
    };
    let status = ended.map_err(failed)?;
    let text = reader.join().unwrap_or_default();
    // It ends with another code than 0 where something is wrong with the node.
    if text.trim().is_empty() {
        return Err(failed(format!("it said nothing ({status})")));
    }
    Ok(short(&text))
}

/// The title and the parts of a first screen that matter at three in the morning, each with its indented lines.
fn short(screen: &str) -> String {
    let mut lines = screen.lines().filter(|line| !line.trim().is_empty());
    let mut kept = vec![lines.next().unwrap_or_default().to_owned()];
    let mut shown = false;
    for line in lines {
        if !line.starts_with(' ') {
            shown = SHOWN.iter().any(|name| line.starts_with(name));
        }
        if shown {
            kept.push(line.to_owned());
        }
    }
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: &str = "GPU 3 on gpu-7 fell off the PCIe bus\n\nCause      confirmed. Xid 79 at 03:12.\n           The bus reports it.\n\
        Affected   1 pod\nFix        Drain the node,\n           then power-cycle it.\nProof      x\n           y\n";

    #[test]
    fn title_cause_and_fix_are_shown() {
        assert_eq!(
            short(SCREEN),
            "GPU 3 on gpu-7 fell off the PCIe bus\nCause      confirmed. Xid 79 at 03:12.\n           The bus reports it.\n\
             Fix        Drain the node,\n           then power-cycle it."
        );
    }

    #[test]
    fn an_analyzer_that_says_nothing_or_is_none_is_said_to() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join(ANALYZER);
        assert!(!matches!(find(Some(dir.path())), Ok(path) if path == program));
        std::fs::write(&program, "").unwrap();
        assert_eq!(find(Some(dir.path())).unwrap(), program);
        let error = ask(&program, "x").unwrap_err().to_string();
        assert!(error.contains("casefile-analyzer: "), "{error}");
        let quiet = ask(Path::new("/bin/true"), "x").unwrap_err().to_string();
        assert!(quiet.contains("said nothing"), "{quiet}");
    }
}
