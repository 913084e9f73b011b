//! A desk for one row: a folder with stubs for commands, a tree or this machine, and what came out of a run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use casefile_bundle::{Limits, Manifest, Outcome, verify};
use casefile_tests::bins;

/// The run's own deadline in every row: what takes longer has failed its row.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// Something was taken: all of it, or what lay beside the fault.
pub(crate) const SOME: &[Outcome] = &[Outcome::Collected, Outcome::Partial];

/// A fault and how it is put in.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) fault: &'static str,
    /// Puts it in, runs the collector, checks; or says why that cannot be had here.
    pub(crate) run: fn() -> Result<Seen, String>,
}

/// What a row shows.
pub(crate) struct Seen {
    /// What the manifest or the program says of the fault.
    pub(crate) said: String,
    /// What was there all the same.
    pub(crate) rest: String,
    pub(crate) took: Duration,
}

pub(crate) struct Desk {
    dir: tempfile::TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["root/etc", "bin", "out"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    /// Runs something at this desk, and leaves its folder for the rest of the row.
    pub(crate) fn keep(self, work: impl FnOnce(&Self) -> Ran) -> Ran {
        let mut ran = work(&self);
        ran.desk = Some(self.dir);
        ran
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// A file of the tree.
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path("root").join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// A command of this machine, replaced by a script.
    pub(crate) fn stub(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// On this machine, stubs first.
    pub(crate) fn on_machine(&self, args: &[&str]) -> Ran {
        let bin = self.text("bin");
        self.run(&[&["--command-dir", &bin][..], args].concat())
    }

    /// On the tree.
    pub(crate) fn on_tree(&self, args: &[&str]) -> Ran {
        let root = self.text("root");
        self.run(&[&["--root", &root][..], args].concat())
    }

    /// Against an API server.
    pub(crate) fn on_cluster(&self, kubeconfig: &str, args: &[&str]) -> Ran {
        let file = self.path("kubeconfig");
        fs::write(&file, kubeconfig).unwrap();
        let only = "cluster_objects,cluster_events,cluster_pod_logs,host_info";
        let all = ["--kubeconfig", file.to_str().unwrap(), "--only", only];
        self.run(&[&all[..], args].concat())
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let clock = Instant::now();
        let output = self.command(args).output().unwrap();
        self.ran(output, clock)
    }

    pub(crate) fn start(&self, args: &[&str]) -> (Child, Instant) {
        let clock = Instant::now();
        (self.command(args).spawn().unwrap(), clock)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(bins::find(bins::COLLECTOR));
        let deadline = format!("{}s", DEADLINE.as_secs());
        if !args.contains(&"--timeout") {
            command.args(["--timeout", &deadline]);
        }
        command
            .args(args)
            .args(["--progress", "none"])
            .env_clear()
            .current_dir(self.path("out"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn ran(&self, output: Output, clock: Instant) -> Ran {
        let took = clock.elapsed();
        let mut files: Vec<_> = fs::read_dir(self.path("out"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            files,
            took,
            desk: None,
        }
    }
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Everything in the output folder.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) took: Duration,
    /// The folder, where the row has no desk of its own.
    pub(crate) desk: Option<tempfile::TempDir>,
}

impl Ran {
    /// The one bundle, whole and unchanged, made within the deadline, and nothing beside it.
    pub(crate) fn bundle(&self) -> Bundle {
        assert!(self.took < DEADLINE, "{self:?}");
        assert!(matches!(self.code, Some(0 | 4)), "{self:?}");
        let [file] = self.files.as_slice() else {
            panic!("one file is wanted: {self:?}")
        };
        Bundle::open(file)
    }

    /// A row for a run that makes no bundle: it ends with this code and says this.
    pub(crate) fn refused(&self, code: i32, said: &str) -> Result<Seen, String> {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.stderr.contains(said), "{self:?}");
        let text = self.stderr.replace("casefile-collector: ", "");
        Ok(Seen {
            said: format!("exit {code}: {}", text.trim()),
            rest: "nothing was run".to_owned(),
            took: self.took,
        })
    }
}

/// A whole bundle.
pub(crate) struct Bundle {
    pub(crate) file: PathBuf,
    pub(crate) manifest: Manifest,
}

impl Bundle {
    pub(crate) fn open(file: &Path) -> Self {
        let report = verify(file, &Limits::default()).unwrap();
        assert!(report.is_clean(), "{}: {report:?}", file.display());
        Self {
            file: file.to_owned(),
            manifest: report.summary.manifest.unwrap(),
        }
    }

    /// Outcome, and all that is said about a source.
    pub(crate) fn told(&self, id: &str) -> (Outcome, String) {
        let mut sources = self.manifest.sources.iter();
        let source = sources.find(|source| source.id == id).unwrap();
        let mut text = source.why.clone().unwrap_or_default();
        for note in &source.notes {
            text.push('\n');
            text.push_str(note);
        }
        (source.outcome, text)
    }

    /// Whether an entry whose path ends so is there, whole.
    pub(crate) fn has(&self, end: &str) -> bool {
        self.manifest
            .entries
            .iter()
            .any(|entry| entry.path.as_str().ends_with(end) && entry.truncated.is_none())
    }

    /// Why an entry is cut.
    pub(crate) fn cut(&self, end: &str) -> Option<String> {
        let mut entries = self.manifest.entries.iter();
        entries
            .find(|entry| entry.path.as_str().ends_with(end))?
            .truncated
            .clone()
    }

    pub(crate) fn content(&self, end: &str) -> String {
        let mut entries = self.manifest.entries.iter();
        let entry = entries
            .find(|entry| entry.path.as_str().ends_with(end))
            .unwrap_or_else(|| panic!("no {end}"));
        let path = entry.path.as_str();
        let bytes = casefile_bundle::read_entry(&self.file, &Limits::default(), path, 64 << 20);
        String::from_utf8_lossy(&bytes.unwrap().unwrap()).into_owned()
    }

    /// A row: the source ended so, says this among other things, and these entries are there and whole.
    pub(crate) fn row(
        &self,
        ran: &Ran,
        source: &str,
        outcomes: &[Outcome],
        said: &str,
        rest: &[&str],
    ) -> Result<Seen, String> {
        let (outcome, text) = self.told(source);
        assert!(outcomes.contains(&outcome), "{outcome:?}: {text}");
        let line = text.lines().find(|line| line.contains(said));
        assert!(line.is_some() || said.is_empty(), "no {said:?} in {text}");
        let line = line.unwrap_or_default();
        for end in rest {
            assert!(self.has(end), "{end} is missing: {:?}", self.manifest);
        }
        let word = format!("{outcome:?}").to_lowercase();
        Ok(Seen {
            said: format!("{source} {word}: {line}"),
            rest: rest.join(", "),
            took: ran.took,
        })
    }
}
