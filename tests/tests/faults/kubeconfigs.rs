//! Kubeconfigs as people have them.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Instant;

use casefile_bundle::Outcome;
use casefile_tests::recording::User;
use casefile_tests::replay::small::Small;
use casefile_tests::replay::{Credential, Faults, Server};

use crate::desk::{Desk, Ran, Row, Seen};

const OBJECTS: &str = "cluster_objects";
const PODS: &str = "cluster-resources/pods/default.json";
const REST: &[&str] = &[PODS, "/proc/meminfo"];
const WHOLE: &[Outcome] = &[Outcome::Collected];

pub(crate) const ROWS: &[Row] = &[
    Row {
        fault: "kubeconfig: tokenFile that ends in a newline",
        run: token_file,
    },
    Row {
        fault: "KUBECONFIG: a list with an absent file",
        run: absent_in_list,
    },
    Row {
        fault: "kubeconfig: proxy-url of socks5",
        run: socks,
    },
    Row {
        fault: "kubeconfig: the current context is of another cluster, --context",
        run: context,
    },
    Row {
        fault: "kubeconfig: --context that is not there",
        run: no_context,
    },
    Row {
        fault: "kubeconfig: rights in the context's namespace only",
        run: namespace,
    },
];

fn server(cluster: Small) -> (Server, String) {
    let server = Server::start(cluster, "127.0.0.1:0".parse().unwrap(), Faults::default()).unwrap();
    let config = server.kubeconfig(User::Admin, Credential::Token);
    (server, config)
}

fn ran(desk: Desk, config: &str, args: &[&str]) -> Ran {
    desk.keep(|desk| desk.on_cluster(config, args))
}

fn token_file() -> Result<Seen, String> {
    let (_server, config) = server(Small::new());
    let desk = Desk::new();
    let line = config
        .lines()
        .find(|line| line.contains("token: "))
        .unwrap();
    let token = line.trim().trim_start_matches("token: ").to_owned();
    fs::write(desk.path("token"), format!("{token}\n")).unwrap();
    let named = config.replace(
        &format!("token: {token}"),
        &format!("tokenFile: {}", desk.text("token")),
    );
    assert_ne!(named, config, "{config}");
    let ran = ran(desk, &named, &[]);
    ran.bundle().row(&ran, OBJECTS, WHOLE, "", REST)
}

fn absent_in_list() -> Result<Seen, String> {
    let (_server, config) = server(Small::new());
    let desk = Desk::new();
    fs::write(desk.path("here"), config).unwrap();
    let clock = Instant::now();
    let list = format!("{}:{}", desk.text("absent"), desk.text("here"));
    let mut command = desk.command(&["--only", "cluster_objects,host_info"]);
    let output = command.env("KUBECONFIG", list).output().unwrap();
    let ran = desk.ran(output, clock);
    ran.bundle().row(&ran, OBJECTS, WHOLE, "", REST)
}

/// A SOCKS5 server for one target after the other, without a login. RFC 1928.
fn socks_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            std::thread::spawn(move || socks_client(client));
        }
    });
    address
}

fn socks_client(mut client: TcpStream) -> Option<()> {
    let mut head = [0; 2];
    client.read_exact(&mut head).ok()?;
    let mut methods = vec![0; usize::from(head[1])];
    client.read_exact(&mut methods).ok()?;
    client.write_all(&[5, 0]).ok()?;
    let mut request = [0; 4];
    client.read_exact(&mut request).ok()?;
    assert_eq!(request, [5, 1, 0, 1], "an IPv4 target");
    let mut target = [0; 6];
    client.read_exact(&mut target).ok()?;
    let ip: [u8; 4] = target[..4].try_into().ok()?;
    let port = u16::from_be_bytes([target[4], target[5]]);
    let mut server = TcpStream::connect(SocketAddr::from((ip, port))).ok()?;
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).ok()?;
    let (mut from, mut to) = (client.try_clone().ok()?, server.try_clone().ok()?);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
    let _ = std::io::copy(&mut server, &mut client);
    Some(())
}

fn socks() -> Result<Seen, String> {
    let (_server, config) = server(Small::new());
    let proxy = format!("    proxy-url: socks5://{}\n    server: ", socks_server());
    let ran = ran(Desk::new(), &config.replace("    server: ", &proxy), &[]);
    ran.bundle().row(&ran, OBJECTS, WHOLE, "", REST)
}

fn context() -> Result<Seen, String> {
    let (_server, config) = server(Small::new());
    let elsewhere = config.replace("current-context: k8s", "current-context: elsewhere");
    let ran = ran(Desk::new(), &elsewhere, &["--context", "k8s"]);
    ran.bundle().row(&ran, OBJECTS, WHOLE, "", REST)
}

fn no_context() -> Result<Seen, String> {
    let (_server, config) = server(Small::new());
    ran(Desk::new(), &config, &["--context", "nowhere"])
        .refused(2, "there is no context named \"nowhere\"")
}

fn namespace() -> Result<Seen, String> {
    let (_server, config) = server(Small::new().only_in("kube-system"));
    let named = config.replacen("    user: ", "    namespace: kube-system\n    user: ", 1);
    let ran = ran(Desk::new(), &named, &[]);
    let said = "only the namespace kube-system of the kubeconfig's context";
    let rest = &["cluster-resources/pods/kube-system.json", "/proc/meminfo"];
    ran.bundle()
        .row(&ran, OBJECTS, &[Outcome::Partial], said, rest)
}
