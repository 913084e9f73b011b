//! Shards in processes of their own, on a folder and on an S3 server, killed and started again; what others make of
//! the files; the manifest of the Job.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use casefile_tests::bins::{self, ANALYZER, checkout};
use casefile_tests::fleet::{Fleet, make};
use k8s_openapi::api::batch::v1::Job;
use serde_json::Value;

use crate::support::{Ended, ended, skip};

/// Few, so that the test is short; `cargo bench -p casefile-tests --bench fleet` does it with 2,000.
const BUNDLES: usize = 30;

fn bundles(folder: &Path) -> BTreeMap<String, Option<String>> {
    let fleet = Fleet {
        bundles: BUNDLES,
        nodes_a_cluster: 10,
        seed: 5,
        hidden: true,
    };
    make(fleet, &checkout().join("analyzer/rules"), folder).unwrap()
}

fn command(input: &str, output: &str, shard: &str) -> Command {
    let mut command = Command::new(bins::find(ANALYZER));
    command.args(["fleet", "run", input, "-o", output, "--shard", shard]);
    command.args(["--buckets", "8", "--jobs", "1"]);
    command.env_clear().env("PATH", "/usr/bin:/bin");
    command
}

fn shards(input: &str, output: &str, count: usize) {
    let running: Vec<Child> = (0..count)
        .map(|index| {
            let mut one = command(input, output, &format!("{index}/{count}"));
            one.stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in running {
        let done = ended(child.wait_with_output().unwrap());
        assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    }
}

/// Every file of the tables with its content.
fn tables(output: &Path) -> BTreeMap<String, Vec<u8>> {
    walkdir::WalkDir::new(output.join("tables"))
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let name = entry.path().strip_prefix(output).unwrap();
            (
                name.display().to_string(),
                std::fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

fn sql(output: &Path, question: &str) -> Ended {
    let mut command = Command::new(bins::find(ANALYZER));
    command
        .args(["sql", question])
        .arg(output)
        .args(["--format", "csv"]);
    ended(command.output().unwrap())
}

#[test]
fn shards_write_the_same_tables_whatever_their_number_and_however_often_they_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    let truth = bundles(&input);
    let at = |name: &str| folder.path().join(name);
    let text = |path: &Path| path.display().to_string();
    shards(&text(&input), &text(&at("one")), 1);
    shards(&text(&input), &text(&at("two")), 2);
    // Four shards, each killed in the middle several times.
    for round in 0..3_u64 {
        let mut running: Vec<Child> = (0..4)
            .map(|index| {
                let mut one = command(&text(&input), &text(&at("four")), &format!("{index}/4"));
                one.stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap()
            })
            .collect();
        std::thread::sleep(Duration::from_millis(900 + 700 * round));
        for child in &mut running {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
    shards(&text(&input), &text(&at("four")), 4);
    let first = tables(&at("one"));
    assert!(first.len() > 20, "{:?}", first.keys());
    assert!(
        tables(&at("two")) == first,
        "two shards write other files than one"
    );
    assert!(
        tables(&at("four")) == first,
        "killed shards write other files than one"
    );
    agrees_with(&truth, &at("four"));
}

/// Every bundle is there once, and the planted causes are the ones that are found.
fn agrees_with(truth: &BTreeMap<String, Option<String>>, output: &Path) {
    let asked = sql(
        output,
        "SELECT input, coalesce(cause, '') AS cause FROM bundles ORDER BY input",
    );
    assert_eq!(asked.code, 0, "{}", asked.err);
    let found: Vec<&str> = asked.out.lines().skip(1).collect();
    let expected: Vec<String> = truth
        .iter()
        .map(|(name, cause)| format!("{name},{}", cause.as_deref().unwrap_or("")))
        .collect();
    assert_eq!(found, expected);
}

/// An S3 server on this machine.
struct S3 {
    server: Child,
    endpoint: String,
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// `CASEFILE_PYTHON`, else the environment that `.ci/install` makes, else the system's.
fn python() -> PathBuf {
    let own = checkout().join("tests/python/venv/bin/python");
    match std::env::var_os("CASEFILE_PYTHON") {
        Some(named) => named.into(),
        None if own.exists() => own,
        None => "python3".into(),
    }
}

fn has(modules: &str) -> bool {
    let tried = Command::new(python())
        .args(["-c", &format!("import {modules}")])
        .output();
    tried.is_ok_and(|done| done.status.success())
}

impl S3 {
    fn start() -> Option<Self> {
        if !has("moto.server, boto3, flask") {
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let server = Command::new(python())
            .args(["-m", "moto.server", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(Self {
            server,
            endpoint: format!("http://127.0.0.1:{port}"),
        })
    }

    fn environment(&self, command: &mut Command) {
        command
            .env("AWS_ENDPOINT", &self.endpoint)
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "key-of-a-test")
            .env("AWS_SECRET_ACCESS_KEY", "made-up-for-a-test");
    }

    fn script(&self, script: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(python());
        let head = "import boto3, os, sys\ns3 = boto3.client('s3', endpoint_url=os.environ['AWS_ENDPOINT'])\n";
        command
            .args(["-c", &format!("{head}{script}")])
            .args(arguments);
        self.environment(&mut command);
        let done = ended(command.output().unwrap());
        assert_eq!(done.code, 0, "{}", done.err);
        done.out
    }
}

#[test]
fn an_s3_server_gives_the_same_tables_as_a_folder() {
    let Some(s3) = S3::start() else {
        return skip(
            "an_s3_server_gives_the_same_tables_as_a_folder",
            "python3 has no moto[server]",
        );
    };
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    bundles(&input);
    s3.script(
        "s3.create_bucket(Bucket='casefile')\nfor name in sorted(os.listdir(sys.argv[1])):\n    s3.upload_file(os.path.join(sys.argv[1], name), 'casefile', 'night/' + name)\n",
        &[&input.display().to_string()],
    );
    for index in 0..2 {
        let shard = format!("{index}/2");
        let mut killed = command(
            "s3://casefile/night",
            "s3://casefile/tables-of-night",
            &shard,
        );
        s3.environment(&mut killed);
        let mut child = killed.stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(2));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut whole = command(
            "s3://casefile/night",
            "s3://casefile/tables-of-night",
            &shard,
        );
        s3.environment(&mut whole);
        let done = ended(whole.output().unwrap());
        assert_eq!(done.code, 0, "{}{}", done.out, done.err);
        assert!(!done.out.contains("made-up") && !done.err.contains("made-up"));
    }
    let listed = s3.script(
        "for page in s3.get_paginator('list_objects_v2').paginate(Bucket='casefile', Prefix='tables-of-night/tables/'):\n    for one in page.get('Contents', []): print(one['Key'].removeprefix('tables-of-night/'))\n",
        &[],
    );
    let output = folder.path().join("out");
    shards(
        &input.display().to_string(),
        &output.display().to_string(),
        1,
    );
    // Files are named by their content.
    let names: Vec<String> = tables(&output).into_keys().collect();
    assert_eq!(listed.lines().collect::<Vec<_>>(), names);
    let mut asked = Command::new(bins::find(ANALYZER));
    asked.args([
        "sql",
        "SELECT count(*) AS n FROM bundles",
        "s3://casefile/tables-of-night",
        "--format",
        "csv",
    ]);
    s3.environment(&mut asked);
    let asked = ended(asked.output().unwrap());
    assert_eq!(asked.out, format!("n\n{BUNDLES}\n"), "{}", asked.err);
}

#[test]
fn an_expired_token_is_named_without_the_key() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            use std::io::{Read as _, Write as _};
            let _ = stream.read(&mut [0; 8192]);
            let body = "<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>";
            let _ = write!(
                stream,
                "HTTP/1.1 400 Bad Request\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(
        "s3://casefile/night",
        &folder.path().display().to_string(),
        "0/1",
    );
    command
        .env("AWS_ENDPOINT", endpoint)
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_ACCESS_KEY_ID", "key-of-a-test")
        .env("AWS_SECRET_ACCESS_KEY", "made-up-for-a-test")
        .env("AWS_SESSION_TOKEN", "token-of-a-test");
    let done = ended(command.output().unwrap());
    assert_ne!(done.code, 0);
    assert!(
        done.err.contains("token has expired") && done.err.contains("s3://casefile/night"),
        "{}",
        done.err
    );
    for secret in ["key-of-a-test", "made-up-for-a-test", "token-of-a-test"] {
        assert!(!done.err.contains(secret) && !done.out.contains(secret));
    }
}

#[test]
fn duckdb_pandas_and_pyarrow_read_the_tables() {
    let test = "duckdb_pandas_and_pyarrow_read_the_tables";
    if !has("duckdb, pandas, pyarrow") {
        return skip(
            test,
            "python3 has no duckdb, pandas and pyarrow; CASEFILE_PYTHON names one that has",
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    bundles(&input);
    shards(
        &input.display().to_string(),
        &output.display().to_string(),
        1,
    );
    let script = "import duckdb, pandas, pyarrow.dataset as ds, sys\n\
        t = sys.argv[1] + '/tables/'\n\
        print(duckdb.sql(f\"SELECT count(*), count(DISTINCT node) FROM '{t}bundles/*.parquet'\").fetchall()[0])\n\
        f = pandas.read_parquet(t + 'bundles')\n\
        print(len(f), str(f['finished'].dtype))\n\
        print(ds.dataset(t + 'settings').to_table().column_names[:6])\n";
    let done = Command::new(python())
        .args(["-c", script])
        .arg(&output)
        .output();
    let done = ended(done.unwrap());
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.out
            .starts_with(&format!("({BUNDLES}, {BUNDLES})\n{BUNDLES} datetime64")),
        "{}",
        done.out
    );
    assert!(
        done.out
            .contains("['bundle', 'n', 'node', 'cluster', 'scope', 'kind']"),
        "{}",
        done.out
    );
}

fn job() -> Job {
    let text =
        std::fs::read_to_string(checkout().join("analyzer/fleet/deploy/indexed-job.yaml")).unwrap();
    let value: Value = serde_saphyr::from_str(&text).unwrap();
    let job: Job = serde_json::from_value(value.clone()).unwrap();
    // A key that the API does not know is lost on the way through its types.
    let back = serde_json::to_value(&job).unwrap();
    assert_eq!(keys(&value), keys(&back));
    job
}

/// All paths of a value.
fn keys(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                all.push(name.clone());
                all.extend(
                    keys(value)
                        .into_iter()
                        .map(|below| format!("{name}.{below}")),
                );
            }
        }
        Value::Array(items) => all.extend(items.iter().flat_map(keys)),
        _ => {}
    }
    all.sort();
    all
}

#[test]
fn each_index_of_the_job_does_its_shard() {
    let spec = job().spec.unwrap();
    assert_eq!(spec.completion_mode.as_deref(), Some("Indexed"));
    assert_eq!(spec.backoff_limit_per_index, Some(3));
    let count = spec.completions.unwrap();
    let container = spec.template.spec.unwrap().containers.remove(0);
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    let truth = bundles(&input);
    for index in 0..count {
        let arguments: Vec<String> = container
            .args
            .iter()
            .flatten()
            .map(|one| match one.as_str() {
                one if one.starts_with("s3://casefile/nights/") => input.display().to_string(),
                one if one.starts_with("s3://casefile/tables/") => output.display().to_string(),
                one => one.replace("$(JOB_COMPLETION_INDEX)", &index.to_string()),
            })
            .collect();
        let done = ended(
            Command::new(bins::find(ANALYZER))
                .args(&arguments)
                .output()
                .unwrap(),
        );
        assert_eq!(done.code, 0, "{arguments:?}: {}{}", done.out, done.err);
    }
    agrees_with(&truth, &output);
}

#[test]
fn wrong_use_ends_with_the_code_that_stops_the_job() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display().to_string();
    for arguments in [
        ["--shard", "8/8"],
        ["--buckets", "0"],
        ["--time-limit", "soon"],
    ] {
        let mut command = Command::new(bins::find(ANALYZER));
        command
            .args(["fleet", "run", &place, "-o", &place])
            .args(arguments);
        assert_eq!(ended(command.output().unwrap()).code, 2, "{arguments:?}");
    }
}
