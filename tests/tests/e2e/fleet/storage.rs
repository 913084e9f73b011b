//! Shards on an S3 server, with a token that has expired, and on a disk that is full.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use casefile_tests::bins::{self, ANALYZER};
use casefile_tests::s3::{KEY, S3};

use super::{BUNDLES, bundles, command, shards, sql, tables};
use crate::support::{ended, skip};

#[test]
fn an_s3_server_gives_the_same_tables_as_a_folder() {
    let Some(s3) = S3::start().unwrap() else {
        return skip(
            "an_s3_server_gives_the_same_tables_as_a_folder",
            "python3 has no moto[server]",
        );
    };
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    bundles(&input);
    // Why it is refused must not name the copy that was read.
    std::fs::write(input.join("broken.tar.gz"), "no bundle\n").unwrap();
    s3.upload(&input, "night").unwrap();
    for index in 0..2 {
        let run = || {
            let shard = format!("{index}/2");
            let mut one = command(
                "s3://casefile/night",
                "s3://casefile/tables-of-night",
                &shard,
            );
            s3.environment(&mut one);
            one
        };
        let mut killed = run().stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(2));
        killed.kill().unwrap();
        killed.wait().unwrap();
        let done = ended(run().output().unwrap());
        assert_eq!(done.code, 0, "{}{}", done.out, done.err);
        assert!(!done.out.contains(KEY[1]) && !done.err.contains(KEY[1]));
    }
    let output = folder.path().join("out");
    shards(
        &input.display().to_string(),
        &output.display().to_string(),
        1,
    );
    // Files are named by their content.
    let names: Vec<String> = tables(&output).into_keys().collect();
    assert_eq!(
        s3.names("tables-of-night/")
            .unwrap()
            .into_iter()
            .filter(|name| name.starts_with("tables/"))
            .collect::<Vec<_>>(),
        names
    );
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
    assert_eq!(asked.out, format!("n\n{}\n", BUNDLES + 1), "{}", asked.err);
}

#[test]
fn a_collector_s_upload_to_a_signed_address_is_a_bundle_of_the_night() {
    let Some(s3) = S3::start().unwrap() else {
        return skip(
            "a_collector_s_upload_to_a_signed_address_is_a_bundle_of_the_night",
            "python3 has no moto[server]",
        );
    };
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    bundles(&input);
    let bundle = std::fs::read_dir(&input)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let signed = s3
        .script("print(s3.generate_presigned_url('put_object', Params={'Bucket': 'casefile', 'Key': 'night/one.tar.gz', 'ContentType': 'application/gzip'}))", &[])
        .unwrap();
    let mut sent = Command::new(bins::find(bins::COLLECTOR));
    sent.arg("upload")
        .arg(&bundle)
        .env("CASEFILE_UPLOAD", signed.trim());
    let sent = ended(sent.output().unwrap());
    assert_eq!(sent.code, 0, "{}", sent.err);
    let output = folder.path().join("out");
    let mut run = command("s3://casefile/night", &output.display().to_string(), "0/1");
    s3.environment(&mut run);
    let done = ended(run.output().unwrap());
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    assert_eq!(
        sql(&output, "SELECT input FROM bundles WHERE error IS NULL").out,
        "input\none.tar.gz\n"
    );
}

#[test]
fn a_full_disk_is_named_and_the_next_run_makes_up_for_it() {
    let test = "a_full_disk_is_named_and_the_next_run_makes_up_for_it";
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    bundles(&input);
    std::fs::create_dir(&output).unwrap();
    // The first run has a disk of 100 KiB, the second a larger one, with what the first wrote still there.
    let script = "mount -t tmpfs -o size=100k none \"$2\" || exit 99\n\
        \"$0\" fleet run \"$1\" -o \"$2\" --buckets 8 > \"$3\"; code=$?\n\
        mount -o remount,size=100m \"$2\" && \"$0\" fleet run \"$1\" -o \"$2\" --buckets 8 && \
        \"$0\" fleet status \"$2\" --input \"$1\" && exit $code\n";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", script]);
    command
        .arg(bins::find(ANALYZER))
        .arg(&input)
        .arg(&output)
        .arg(folder.path().join("first"));
    let Ok(done) = command.output() else {
        return skip(test, "there is no unshare");
    };
    let done = ended(done);
    if done.code == 99 || done.err.contains("unshare") {
        return skip(test, "unshare may not mount here");
    }
    let first = std::fs::read_to_string(folder.path().join("first")).unwrap();
    assert_eq!(done.code, 3, "{first}{}{}", done.out, done.err);
    assert!(
        first.contains("failed: bucket") && first.contains("No space left"),
        "{first}"
    );
    assert!(
        done.out.contains("0 missing")
            && done
                .out
                .contains(&format!("{BUNDLES} bundles, 0 of them not analysed")),
        "{}",
        done.out
    );
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
    // Not 2, which stops a whole Job: with another token the same command goes on.
    assert_eq!(done.code, 3);
    assert!(
        done.err.contains("token has expired") && done.err.contains("s3://casefile/night"),
        "{}",
        done.err
    );
    for secret in ["key-of-a-test", "made-up-for-a-test", "token-of-a-test"] {
        assert!(!done.err.contains(secret) && !done.out.contains(secret));
    }
}
