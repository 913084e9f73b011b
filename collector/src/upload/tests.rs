//! Uploads against servers that break off, forget and refuse.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use super::*;

/// What a small tus server has, and how often it drops the connection in the middle of a part.
#[derive(Default)]
struct Server {
    got: Vec<u8>,
    drops: VecDeque<usize>,
    created: usize,
    tus: bool,
    refuses: Option<&'static str>,
    asked: Vec<String>,
}

/// Starts a server; its address ends with `/`.
fn serve(server: Server) -> (String, Arc<Mutex<Server>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let server = Arc::new(Mutex::new(server));
    let shared = Arc::clone(&server);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, &shared);
        }
    });
    (address, server)
}

/// Answers one request and closes the connection.
fn answer(mut stream: std::net::TcpStream, shared: &Mutex<Server>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    let (mut length, mut offset) = (0, 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let (name, value) = line.split_once(':').unwrap_or(("", ""));
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap(),
            "upload-offset" => offset = value.trim().parse().unwrap(),
            _ => {}
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut server = shared.lock().unwrap();
    server.asked.push(first.trim().to_owned());
    let method = first.split(' ').next().unwrap();
    let most = match method {
        "PATCH" => server.drops.pop_front().unwrap_or(length),
        _ => length,
    };
    let mut body = vec![0; most.min(length)];
    reader.read_exact(&mut body).unwrap();
    let mut head = match (method, server.refuses) {
        (_, Some(status)) => format!("HTTP/1.1 {status}\r\n"),
        ("OPTIONS", _) if server.tus => "HTTP/1.1 204 No Content\r\nTus-Version: 1.0.0\r\n".into(),
        ("OPTIONS", _) => "HTTP/1.1 405 Method Not Allowed\r\n".into(),
        ("POST", _) => {
            server.created += 1;
            "HTTP/1.1 201 Created\r\nLocation: /files/1\r\n".into()
        }
        ("HEAD", _) => format!("HTTP/1.1 200 OK\r\nUpload-Offset: {}\r\n", server.got.len()),
        ("PATCH", _) => {
            assert_eq!(offset, server.got.len());
            server.got.extend_from_slice(&body);
            "HTTP/1.1 204 No Content\r\n".into()
        }
        _ => {
            server.got = body.clone();
            "HTTP/1.1 201 Created\r\n".into()
        }
    };
    if body.len() < length {
        // The connection is lost in the middle of the part; what came stays.
        return;
    }
    if !head.contains("204") {
        head.push_str("Content-Length: 0\r\n");
    }
    head.push_str("Connection: close\r\n\r\n");
    let _ = stream.write_all(head.as_bytes());
}

fn bundle(folder: &Path, bytes: usize) -> PathBuf {
    let path = folder.join("casefile-gpu-1.tar.gz");
    let content: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
    std::fs::write(&path, content).unwrap();
    path
}

fn sent(path: &Path, address: &str) -> Result<(), UploadError> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(send(path, address))
}

#[test]
fn an_upload_that_breaks_off_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = bundle(folder.path(), 3 << 20);
    let (address, server) = serve(Server {
        tus: true,
        drops: [100_000, 1 << 20].into(),
        ..Server::default()
    });
    sent(&path, &address).unwrap();
    let server = server.lock().unwrap();
    assert!(server.got == std::fs::read(&path).unwrap());
    assert_eq!(server.created, 1);
    assert!(!folder.path().join("casefile-gpu-1.tar.gz.upload").exists());
}

#[test]
fn a_later_run_goes_on_with_the_upload_of_an_earlier_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = bundle(folder.path(), 1 << 20);
    let (address, server) = serve(Server {
        tus: true,
        got: std::fs::read(&path).unwrap()[..500_000].to_vec(),
        ..Server::default()
    });
    let note = folder.path().join("casefile-gpu-1.tar.gz.upload");
    std::fs::write(&note, format!("{address}\n{address}files/1\n")).unwrap();
    sent(&path, &address).unwrap();
    let server = server.lock().unwrap();
    assert_eq!(server.created, 0);
    assert!(server.got == std::fs::read(&path).unwrap());
}

#[test]
fn a_plain_server_gets_one_put_below_the_address_and_a_signed_address_is_taken_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = bundle(folder.path(), 200_000);
    let (address, server) = serve(Server::default());
    sent(&path, &address).unwrap();
    sent(&path, &format!("{address}night/x?X-Amz-Signature=1")).unwrap();
    let server = server.lock().unwrap();
    assert!(server.got == std::fs::read(&path).unwrap());
    assert_eq!(server.asked[1], "PUT /casefile-gpu-1.tar.gz HTTP/1.1");
    assert_eq!(server.asked[2], "PUT /night/x?X-Amz-Signature=1 HTTP/1.1");
}

#[test]
fn an_expired_signature_is_said_once_and_without_the_signature() {
    let folder = tempfile::tempdir().unwrap();
    let path = bundle(folder.path(), 10);
    let (address, server) = serve(Server {
        refuses: Some("403 Forbidden"),
        ..Server::default()
    });
    let error = sent(&path, &format!("{address}x?X-Amz-Signature=abc")).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("403") && said.contains("stays at"), "{said}");
    assert!(!said.contains("abc"), "{said}");
    assert_eq!(server.lock().unwrap().asked.len(), 1);
    assert!(path.exists());
}

#[test]
fn nodes_wait_for_different_times() {
    let hour = Duration::from_secs(3600);
    let waits: Vec<_> = (0..100)
        .map(|node| share(&format!("gpu-{node}"), hour))
        .collect();
    assert!(waits.iter().all(|wait| *wait <= hour));
    assert!(waits.iter().min().unwrap() < &Duration::from_secs(600));
    assert!(waits.iter().max().unwrap() > &Duration::from_secs(3000));
}

#[test]
fn of_a_folder_each_bundle_is_sent_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = bundle(folder.path(), 100);
    for other in [
        "casefile-gpu-1.tar.gz.partial",
        "notes.tar.gz",
        "casefile-gpu-0.map",
    ] {
        std::fs::write(folder.path().join(other), "x").unwrap();
    }
    let (address, server) = serve(Server::default());
    for _ in 0..2 {
        assert_eq!(command(folder.path(), Some(&address)), 0);
    }
    let server = server.lock().unwrap();
    assert_eq!(server.asked.len(), 2, "{:?}", server.asked);
    assert!(server.got == std::fs::read(&path).unwrap());
}

#[test]
fn a_folder_s_bundle_that_is_refused_is_sent_with_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    bundle(folder.path(), 100);
    let (address, server) = serve(Server {
        refuses: Some("403 Forbidden"),
        ..Server::default()
    });
    let signed = format!("{address}x?signature=1");
    assert_eq!(command(folder.path(), Some(&signed)), crate::NO_OUTPUT);
    server.lock().unwrap().refuses = None;
    assert_eq!(command(folder.path(), Some(&signed)), 0);
    assert_eq!(server.lock().unwrap().got.len(), 100);
}
