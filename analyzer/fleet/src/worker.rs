//! Analyses happen in processes of their own, which can be ended: one that takes too long or too much memory, or
//! that crashes, costs its own bundle only.
//!
//! A worker reads one JSON request a line from its standard input and answers with one JSON line.

use std::io::{BufRead, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::analysed::Analysed;

/// What a worker is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The bundle, on this machine.
    pub path: PathBuf,
    /// Name that the reports call it by.
    pub name: String,
    /// Folder that the reports are written to, where they are wanted.
    pub reports: Option<PathBuf>,
}

/// What it answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Analysed.
    Analysed(Box<Analysed>),
    /// This input is no bundle, or a broken one: another attempt ends the same way.
    Refused(String),
    /// Something else went wrong, e.g. a full disk: another attempt may end otherwise.
    Failed(String),
}

/// What a bundle may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time.
    pub time: Duration,
    /// Resident memory of the worker, in bytes.
    pub memory: u64,
}

/// How workers are started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The program.
    pub path: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
}

/// A process that analyses, started when it is first needed.
#[derive(Debug)]
pub struct Worker {
    program: Program,
    limits: Limits,
    running: Option<Running>,
    most_memory: u64,
}

#[derive(Debug)]
struct Running {
    child: Child,
    input: ChildStdin,
    answers: Receiver<std::io::Result<String>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How often a worker's memory is looked at.
const LOOK: Duration = Duration::from_millis(200);

impl Worker {
    /// A worker that is not started yet.
    pub fn new(program: Program, limits: Limits) -> Self {
        Self {
            program,
            limits,
            running: None,
            most_memory: 0,
        }
    }

    /// The most resident memory that it has had, in bytes; 0 where the system does not say.
    pub fn most_memory(&self) -> u64 {
        self.most_memory
    }

    /// Has one bundle analysed.
    pub fn analyse(&mut self, job: &Job) -> Answer {
        match self.ask(job) {
            Ok(line) => serde_json::from_str(&line).unwrap_or_else(|error| {
                self.running = None;
                Answer::Failed(format!("the worker's answer cannot be read: {error}"))
            }),
            Err(answer) => {
                self.running = None;
                answer
            }
        }
    }

    fn ask(&mut self, job: &Job) -> Result<String, Answer> {
        let failed = |what: &str, error: std::io::Error| Answer::Failed(format!("{what}: {error}"));
        if self.running.is_none() {
            let started = start(&self.program);
            self.running =
                Some(started.map_err(|error| failed("the worker does not start", error))?);
        }
        let Some(running) = self.running.as_mut() else {
            return Err(Answer::Failed("the worker does not start".to_owned()));
        };
        let mut request = serde_json::to_vec(job)
            .map_err(|error| Answer::Failed(format!("the path cannot be passed on: {error}")))?;
        request.push(b'\n');
        running
            .input
            .write_all(&request)
            .map_err(|error| failed("the worker is gone", error))?;
        let mut waited = Duration::ZERO;
        loop {
            match running.answers.recv_timeout(LOOK) {
                Ok(Ok(line)) => {
                    let used = memory(running.child.id(), "VmHWM:");
                    self.most_memory = self.most_memory.max(used);
                    return Ok(line);
                }
                Ok(Err(error)) => return Err(failed("the worker's answer", error)),
                Err(RecvTimeoutError::Timeout) => waited += LOOK,
                Err(RecvTimeoutError::Disconnected) => {
                    let ended = running.child.wait();
                    let how = ended.map_or_else(|error| error.to_string(), |code| code.to_string());
                    return Err(Answer::Refused(format!(
                        "the analyzer ended while it read this bundle ({how})"
                    )));
                }
            }
            let used = memory(running.child.id(), "VmRSS:");
            self.most_memory = self.most_memory.max(used);
            if used > self.limits.memory {
                return Err(Answer::Refused(format!(
                    "the analysis needed more than {} MiB of memory; raise --worker-memory to try again",
                    self.limits.memory >> 20
                )));
            }
            if waited >= self.limits.time {
                return Err(Answer::Refused(format!(
                    "the analysis took longer than {} s; raise --time-limit to try again",
                    self.limits.time.as_secs()
                )));
            }
        }
    }
}

fn start(program: &Program) -> std::io::Result<Running> {
    let mut child = Command::new(&program.path)
        .args(&program.args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(std::io::Error::other("no pipes"));
    };
    let (sender, answers) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    Ok(Running {
        child,
        input,
        answers,
    })
}

/// A figure of a process's memory in bytes; 0 where the system does not say.
fn memory(process: u32, key: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}
#[cfg(test)]
mod tests {
    use super::*;

    fn worker(script: &str, seconds: u64) -> Worker {
        let program = Program {
            path: "/bin/sh".into(),
            args: vec!["-c".to_owned(), script.to_owned()],
        };
        let limits = Limits {
            time: Duration::from_secs(seconds),
            memory: 1 << 30,
        };
        Worker::new(program, limits)
    }

    fn job() -> Job {
        Job {
            path: "x".into(),
            name: "x".to_owned(),
            reports: None,
        }
    }

    #[test]
    fn a_bundle_that_takes_too_long_is_given_up_and_the_next_is_analysed() {
        let mut worker = worker(r#"read line; sleep 60"#, 1);
        let Answer::Refused(why) = worker.analyse(&job()) else {
            panic!("not given up");
        };
        assert!(why.contains("longer than 1 s"), "{why}");
    }

    #[test]
    fn a_crash_costs_one_bundle() {
        let mut worker = worker(r#"while read line; do kill -9 $$; done"#, 5);
        for _ in 0..2 {
            assert!(
                matches!(worker.analyse(&job()), Answer::Refused(why) if why.contains("ended"))
            );
        }
    }

    #[test]
    fn one_process_answers_many() {
        let mut worker = worker(
            r#"while read line; do echo "{\"refused\":\"$$\"}"; done"#,
            5,
        );
        assert_eq!(worker.analyse(&job()), worker.analyse(&job()));
    }
}
