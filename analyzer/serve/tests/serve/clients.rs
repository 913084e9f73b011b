//! Real clients: kube-rs' reflector on every kind, many watches at once, many requests, and those that have no business here.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use casefile_serve::{Builder, Credentials, Declared, Hint, Running, Server, Store};
use chrono::{DateTime, Utc};
use futures::StreamExt;
use kube::api::{Api, ApiResource, DynamicObject, WatchEvent, WatchParams};
use kube::runtime::{reflector, watcher};
use kube::{Client, Config, discovery};

fn now() -> DateTime<Utc> {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

/// A small cluster with objects of several kinds, one of a definition.
pub(crate) fn small() -> Arc<Store> {
    let mut builder = Builder::new("a small cluster");
    let definition = serde_json::json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com", "resourceVersion": "5"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true}]},
    });
    builder
        .add(definition.to_string().as_bytes(), Hint::default())
        .unwrap();
    let kinds = [
        ("v1", "Pod", "pods"),
        ("apps/v1", "Deployment", "deployments.apps"),
        ("example.com/v1", "Thing", "things.example.com"),
        ("v1", "Event", "events"),
    ];
    for (version, kind, resource) in kinds {
        builder.declare(Declared {
            resource: resource.to_owned(),
            api_version: version.to_owned(),
            kind: kind.to_owned(),
            namespaced: true,
            whole: true,
            why: None,
        });
        for number in 0..40 {
            let object = serde_json::json!({
                "apiVersion": version, "kind": kind,
                "metadata": {"name": format!("{}-{number}", kind.to_lowercase()), "namespace": format!("ns-{}", number % 3), "resourceVersion": (100 + number).to_string(), "uid": format!("{kind}-{number}")},
                "spec": {"pad": "x".repeat(200)},
            });
            builder
                .add(object.to_string().as_bytes(), Hint::default())
                .unwrap();
        }
    }
    Arc::new(builder.finish(now(), None))
}

fn start(store: Arc<Store>) -> (Credentials, Running) {
    let server = Server::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let credentials = server.credentials().clone();
    let running = server.start(vec![("test".to_owned(), store)]).unwrap();
    (credentials, running)
}

async fn client(credentials: &Credentials) -> Client {
    let text = casefile_serve::kubeconfig(credentials, &["test".to_owned()]);
    let parsed = kube::config::Kubeconfig::from_yaml(&text).unwrap();
    let config = Config::from_custom_kubeconfig(parsed, &Default::default())
        .await
        .unwrap();
    Client::try_from(config).unwrap()
}

fn run<F: Future>(future: F) -> F::Output {
    let _ = rustls::crypto::ring::default_provider().install_default();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// Every kind that discovery names and that was collected.
async fn collected(client: &Client, store: &Store) -> Vec<ApiResource> {
    let lists = store.lists();
    let all = discovery::Discovery::new(client.clone())
        .run()
        .await
        .unwrap();
    let mut found = Vec::new();
    for group in all.groups() {
        for version in group.versions() {
            for (resource, _) in group.versioned_resources(version) {
                let root = if resource.group.is_empty() {
                    "api"
                } else {
                    "apis"
                };
                let path = format!("/{root}/{}/{}", resource.api_version, resource.plural);
                if lists.iter().any(|(known, _)| *known == path) {
                    found.push(resource);
                }
            }
        }
    }
    found
}

/// Reflects a kind until its state is complete; says how many objects it has.
async fn reflected(client: &Client, resource: &ApiResource, streaming: bool) -> usize {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
    let config = if streaming {
        watcher::Config::default().streaming_lists()
    } else {
        watcher::Config::default()
    };
    let writer = reflector::store::Writer::new(resource.clone());
    let reader = writer.as_reader();
    let mut stream = reflector(writer, watcher(api, config)).boxed();
    loop {
        let event = tokio::time::timeout(Duration::from_secs(60), stream.next()).await;
        let event = event
            .unwrap_or_else(|_| panic!("{} is never complete", resource.plural))
            .unwrap();
        if let watcher::Event::InitDone =
            event.unwrap_or_else(|error| panic!("{}: {error}", resource.plural))
        {
            break;
        }
    }
    // Then nothing: a recording does not change.
    let more = tokio::time::timeout(Duration::from_millis(100), stream.next()).await;
    assert!(more.is_err(), "{}: {more:?}", resource.plural);
    reader.state().len()
}

#[test]
fn a_reflector_lists_and_watches_every_kind() {
    let store =
        crate::common::folder().map_or_else(small, |folder| crate::common::store(&folder, now()));
    let (credentials, _running) = start(Arc::clone(&store));
    run(async {
        let client = client(&credentials).await;
        let kinds = collected(&client, &store).await;
        assert!(kinds.len() >= 4, "{}", kinds.len());
        let mut objects = 0;
        for kind in &kinds {
            let listed = reflected(&client, kind, false).await;
            assert_eq!(
                listed,
                reflected(&client, kind, true).await,
                "{}",
                kind.plural
            );
            objects += listed;
        }
        println!(
            "{} kinds, {objects} objects reflected twice, as a list and as a stream",
            kinds.len()
        );
        let held: usize = store.lists().iter().map(|(_, objects)| objects).sum();
        assert_eq!((kinds.len(), objects), (store.lists().len(), held));
    });
}

#[test]
fn a_hundred_watches_stay_open_side_by_side() {
    let (credentials, _running) = start(small());
    run(async {
        let client = client(&credentials).await;
        let pods = ApiResource::from_gvk(&kube::core::GroupVersionKind::gvk("", "v1", "Pod"));
        let watches = (0..100).map(|_| {
            let api: Api<DynamicObject> = Api::all_with(client.clone(), &pods);
            async move {
                let mut stream = api
                    .watch(&WatchParams::default(), "0")
                    .await
                    .unwrap()
                    .boxed();
                for _ in 0..40 {
                    assert!(matches!(
                        stream.next().await.unwrap().unwrap(),
                        WatchEvent::Added(_)
                    ));
                }
                let more = tokio::time::timeout(Duration::from_millis(300), stream.next()).await;
                assert!(more.is_err(), "a quiet watch");
                stream
            }
        });
        let open = futures::future::join_all(watches).await;
        assert_eq!(open.len(), 100);
        // Others are answered meanwhile.
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &pods);
        assert_eq!(api.list(&Default::default()).await.unwrap().items.len(), 40);
    });
}

/// Memory of this process that is in use, in KiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

#[test]
fn ten_thousand_requests_leave_nothing_behind() {
    let (credentials, _running) = start(small());
    run(async {
        let client = client(&credentials).await;
        let paths = [
            "/api/v1/pods",
            "/api/v1/namespaces/ns-1/pods?limit=3",
            "/apis/example.com/v1/things",
            "/api/v1/namespaces/ns-0/pods/pod-0",
            "/apis",
            "/api/v1/pods?labelSelector=a%3Db",
            "/api/v1/nothing",
        ];
        let ask = |count: usize| {
            let client = client.clone();
            async move {
                for number in 0..count {
                    let request = http::Request::get(paths[number % paths.len()])
                        .body(Vec::new())
                        .unwrap();
                    let _ = client.request_text(request).await;
                }
            }
        };
        ask(2000).await;
        let before = resident();
        futures::future::join_all((0..4).map(|_| ask(2000))).await;
        let grown = resident().saturating_sub(before);
        println!("10,000 requests; {grown} KiB more after the last 8,000");
        assert!(grown < 8 << 10, "{grown} KiB more");
    });
}

/// What comes back to a request as it is written, over TLS that trusts the run's authority.
pub(crate) fn raw(credentials: &Credentials, request: &str) -> String {
    let mut roots = rustls::RootCertStore::empty();
    let der = rustls::pki_types::CertificateDer::from(pem_body(&credentials.certificate_authority));
    roots.add(der).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = rustls::pki_types::ServerName::try_from("localhost").unwrap();
    let connection = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = std::net::TcpStream::connect(credentials.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let mut stream = rustls::StreamOwned::new(connection, stream);
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    // A server that closes without a farewell has still said all.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn pem_body(pem: &str) -> Vec<u8> {
    use base64::Engine as _;
    let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    base64::engine::general_purpose::STANDARD
        .decode(body)
        .unwrap()
}

#[test]
fn strangers_and_other_origins_are_refused() {
    let (credentials, _running) = start(small());
    let own = format!("127.0.0.1:{}", credentials.address.port());
    let token = format!("Authorization: Bearer {}", credentials.token);
    let get = |host: &str, more: &str| {
        format!("GET /api/v1/pods HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n\r\n")
    };
    let cases = [
        (get(&own, &token), "200"),
        (get(&own, "X-Nothing: 1"), "401"),
        (get(&own, "Authorization: Bearer wrong"), "401"),
        (get("rebound.example", &token), "403"),
        (
            get(&own, &format!("{token}\r\nOrigin: https://evil.example")),
            "403",
        ),
        (
            get(&own, &format!("{token}\r\nSec-Fetch-Site: cross-site")),
            "403",
        ),
    ];
    for (request, code) in cases {
        let answer = raw(&credentials, &request);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {code}")),
            "{request}\n{answer}"
        );
        if code != "200" {
            assert!(!answer.contains("pod-0"), "{answer}");
        }
    }
    // What is no HTTP at all ends the connection and nothing else.
    raw(&credentials, "\u{1}\u{2}\u{3} nonsense\r\n\r\n");
    assert!(raw(&credentials, &get(&own, &token)).starts_with("HTTP/1.1 200"));
}

#[test]
fn a_port_in_use_is_said_to_be() {
    let (credentials, _running) = start(small());
    let error = Server::bind(credentials.address)
        .err()
        .expect("the port is taken")
        .to_string();
    assert!(
        error.contains("cannot listen on") && error.contains("--listen"),
        "{error}"
    );
}
