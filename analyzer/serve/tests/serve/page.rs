//! The page of a run: who gets it, and under which policy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use casefile_serve::{Credentials, Desk, LinesAsk, Proposed, Running, Server};
use serde_json::{Value, json};

use crate::clients::{raw, small};

/// Counts what it was asked, and gives markup.
#[derive(Default)]
struct Counting {
    asked: AtomicUsize,
}

impl Counting {
    fn count(&self) -> usize {
        self.asked.fetch_add(1, Ordering::SeqCst)
    }
}

impl Desk for Counting {
    fn report(&self, prefix: &str) -> Result<Bytes, String> {
        self.count();
        Ok(Bytes::from(format!("<p>report of {prefix:?}</p>")))
    }

    fn files(&self) -> Result<Value, String> {
        self.count();
        Ok(json!([{"path": "<script>", "size": null}]))
    }

    fn lines(&self, ask: &LinesAsk, _: &AtomicBool) -> Result<Value, String> {
        self.count();
        Ok(json!({"lines": [], "asked": ask.text}))
    }

    fn causes(&self) -> Result<Value, String> {
        Err("it cannot be diagnosed".to_owned())
    }

    fn attempt(&self, change: &Proposed) -> Result<Value, String> {
        self.count();
        Ok(json!({"text": change.text, "files": []}))
    }
}

fn start() -> (Credentials, Running, Arc<Counting>) {
    let server = Server::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let credentials = server.credentials().clone();
    let desk = Arc::new(Counting::default());
    let shown: Arc<dyn Desk> = Arc::<Counting>::clone(&desk);
    let contexts = vec![("test".to_owned(), small())];
    let running = server.start_with_page(contexts, vec![shown]).unwrap();
    (credentials, running, desk)
}

/// An answer to a request with these headers.
fn ask(credentials: &Credentials, first: &str, headers: &[&str], body: &str) -> String {
    let own = format!("Host: 127.0.0.1:{}", credentials.address.port());
    let length = format!("Content-Length: {}", body.len());
    let mut all = vec![own.as_str(), length.as_str(), "Connection: close"];
    all.extend(headers);
    raw(
        credentials,
        &format!("{first} HTTP/1.1\r\n{}\r\n\r\n{body}", all.join("\r\n")),
    )
}

fn cookie(credentials: &Credentials) -> String {
    let opened = ask(
        credentials,
        &format!("GET /ui/open?token={}", credentials.token),
        &[],
        "",
    );
    assert!(opened.starts_with("HTTP/1.1 303"), "{opened}");
    let line = opened
        .lines()
        .find(|line| line.starts_with("set-cookie: "))
        .unwrap();
    for part in ["HttpOnly", "Secure", "SameSite=Strict"] {
        assert!(line.contains(part), "{line}");
    }
    let value = line
        .trim_start_matches("set-cookie: ")
        .split(';')
        .next()
        .unwrap();
    format!("Cookie: {value}")
}

#[test]
fn the_page_and_what_it_asks_for_is_for_its_own_person_only() {
    let (credentials, _running, desk) = start();
    let cookie = cookie(&credentials);
    let change = r#"{"name": "a.yaml", "text": "x: 1\n"}"#;
    let asked = [
        ("GET /ui/", ""),
        ("GET /ui/page.js", ""),
        ("GET /ui/report", ""),
        ("GET /ui/files", ""),
        ("GET /ui/lines?q=x", ""),
        ("GET /ui/search?q=pod", ""),
        ("POST /ui/change", change),
    ];
    for (first, body) in asked {
        let refused = [
            (vec![], "401"),
            (vec!["Cookie: casefile-token-1=x"], "401"),
            (vec![cookie.as_str(), "Origin: https://evil.example"], "403"),
            (vec![cookie.as_str(), "Origin: null"], "403"),
            (vec![cookie.as_str(), "Sec-Fetch-Site: cross-site"], "403"),
        ];
        for (headers, code) in refused {
            let answer = ask(&credentials, first, &headers, body);
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {code}")),
                "{first} {headers:?}: {answer}"
            );
        }
    }
    assert_eq!(
        desk.asked.load(Ordering::SeqCst),
        0,
        "nothing was done for strangers"
    );
    for (first, body) in asked {
        let answer = ask(&credentials, first, &[&cookie], body);
        assert!(answer.starts_with("HTTP/1.1 200"), "{first}: {answer}");
        assert!(
            answer.contains("x-content-type-options: nosniff"),
            "{first}: {answer}"
        );
    }
    assert_eq!(desk.asked.load(Ordering::SeqCst), 4);
    let wrong = ask(&credentials, "GET /ui/open?token=wrong", &[], "");
    assert!(wrong.starts_with("HTTP/1.1 401"), "{wrong}");
}

#[test]
fn a_report_can_run_its_own_script_and_ask_the_server_for_nothing() {
    let (credentials, _running, _) = start();
    let cookie = cookie(&credentials);
    let policy = |path: &str| {
        let answer = ask(&credentials, &format!("GET {path}"), &[&cookie], "");
        let line = answer
            .lines()
            .find_map(|line| line.strip_prefix("content-security-policy: "));
        line.unwrap().to_owned()
    };
    let report = policy("/ui/report");
    let sandbox = report.split("sandbox").nth(1).unwrap();
    assert_eq!(
        sandbox.trim(),
        "allow-scripts allow-top-navigation-by-user-activation",
        "without allow-same-origin it is of no origin"
    );
    assert!(
        report.starts_with("default-src 'none'") && !report.contains("connect-src"),
        "{report}"
    );
    let page = policy("/ui/");
    assert!(
        page.contains("script-src 'self'") && !page.contains("unsafe"),
        "{page}"
    );
    // What is no page of ours runs nothing at all.
    assert!(
        policy("/ui/files").ends_with("sandbox"),
        "{}",
        policy("/ui/files")
    );
    assert!(policy("/api/v1/pods").ends_with("sandbox"));
}

#[test]
fn what_cannot_be_done_says_why() {
    let (credentials, _running, _) = start();
    let cookie = cookie(&credentials);
    let long = format!(r#"{{"text": "{}"}}"#, "x".repeat(600 << 10));
    for (first, body, words) in [
        ("GET /ui/causes", "", "it cannot be diagnosed"),
        ("POST /ui/change", "no json", "is not JSON"),
        ("POST /ui/change", long.as_str(), "fix --what-if"),
        ("GET /ui/lines?from=x", "", "invalid syntax"),
        ("GET /ui/nothing", "", "could not find"),
        ("GET /ui/report/other", "", "could not find"),
    ] {
        let answer = ask(&credentials, first, &[&cookie], body);
        assert!(
            answer.starts_with("HTTP/1.1 4") && answer.contains(words),
            "{first}: {answer}"
        );
    }
}
