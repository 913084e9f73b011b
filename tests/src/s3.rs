//! An S3 server on this machine (moto's), and the Python that runs it.

use std::ffi::OsString;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::bins::checkout;

/// Bucket that [`S3::start`] makes.
pub const BUCKET: &str = "casefile";
/// What the server takes for a key; it checks none.
pub const KEY: [&str; 2] = ["key-of-a-test", "made-up-for-a-test"];

/// `CASEFILE_PYTHON`, else the environment that `.ci/install` makes, else the system's.
pub fn python() -> PathBuf {
    let own = checkout().join("tests/python/venv/bin/python");
    match std::env::var_os("CASEFILE_PYTHON") {
        Some(named) => named.into(),
        None if own.exists() => own,
        None => "python3".into(),
    }
}

/// Whether that Python has these modules.
pub fn has(modules: &str) -> bool {
    let tried = Command::new(python())
        .args(["-c", &format!("import {modules}")])
        .output();
    tried.is_ok_and(|done| done.status.success())
}

/// A server, ended when this is dropped.
pub struct S3 {
    server: Child,
    /// Its address.
    pub endpoint: String,
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl S3 {
    /// Starts a server with an empty bucket; none where there is no moto.
    ///
    /// # Errors
    /// It does not start or takes no bucket.
    pub fn start() -> anyhow::Result<Option<Self>> {
        if !has("moto.server, boto3, flask") {
            return Ok(None);
        }
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let server = Command::new(python())
            .args(["-m", "moto.server", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let s3 = Self {
            server,
            endpoint: format!("http://127.0.0.1:{port}"),
        };
        let up = (0..600).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        ensure!(up, "the S3 server does not listen within a minute");
        s3.script(&format!("s3.create_bucket(Bucket='{BUCKET}')"), &[])?;
        Ok(Some(s3))
    }

    /// Gives a program the server's address and a key.
    pub fn environment(&self, command: &mut Command) {
        command
            .env("AWS_ENDPOINT", &self.endpoint)
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", KEY[0])
            .env("AWS_SECRET_ACCESS_KEY", KEY[1]);
    }

    /// Runs lines of Python with `s3`, a client of the server; gives what they print.
    ///
    /// # Errors
    /// They fail.
    pub fn script(&self, script: &str, arguments: &[OsString]) -> anyhow::Result<String> {
        let head = "import boto3, os, sys\ns3 = boto3.client('s3', endpoint_url=os.environ['AWS_ENDPOINT'])\n";
        let mut command = Command::new(python());
        command
            .args(["-c", &format!("{head}{script}")])
            .args(arguments);
        self.environment(&mut command);
        let done = command.output().context("python")?;
        ensure!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        Ok(String::from_utf8(done.stdout)?)
    }

    /// Uploads every file of a folder below a prefix.
    ///
    /// # Errors
    /// As [`S3::script`].
    pub fn upload(&self, folder: &Path, prefix: &str) -> anyhow::Result<()> {
        let script = format!(
            "for name in sorted(os.listdir(sys.argv[1])):\n    s3.upload_file(os.path.join(sys.argv[1], name), '{BUCKET}', '{prefix}/' + name)\n"
        );
        self.script(&script, &[folder.into()]).map(drop)
    }

    /// Names below a prefix, without it, sorted.
    ///
    /// # Errors
    /// As [`S3::script`].
    pub fn names(&self, prefix: &str) -> anyhow::Result<Vec<String>> {
        let script = format!(
            "for page in s3.get_paginator('list_objects_v2').paginate(Bucket='{BUCKET}', Prefix='{prefix}'):\n    for one in page.get('Contents', []): print(one['Key'].removeprefix('{prefix}'))\n"
        );
        let listed = self.script(&script, &[])?;
        Ok(listed.lines().map(str::to_owned).collect())
    }
}
