//! An API server that does not behave.

use std::net::TcpListener;
use std::sync::Arc;

use casefile_bundle::Outcome;
use casefile_collector::cli::Cli;
use casefile_collector::cluster::ClusterHandle;
use casefile_collector::host::Host;
use casefile_tests::recording::User;
use casefile_tests::replay::small::Small;
use casefile_tests::replay::{Credential, Fault, Faults, Server};
use clap::Parser as _;
use serde_json::json;

use crate::desk::{Bundle, Desk, Ran, Row, Seen};

const HOST: &str = "/proc/meminfo";
const PODS: &str = "cluster-resources/pods/default.json";
const NODES: &str = "cluster-resources/nodes.json";
const EVENTS: &str = "cluster-resources/events/default.json";
const LOG: &str = "logs/kube-system/coredns-0/main.log";
const OBJECTS: &str = "cluster_objects";
const HURT: &[Outcome] = &[Outcome::Partial, Outcome::Failed];

pub(crate) const ROWS: &[Row] = &[
    Row {
        fault: "API: connection refused",
        run: refused,
    },
    Row {
        fault: "API: certificate of another authority",
        run: wrong_ca,
    },
    Row {
        fault: "API: accepts, and never says a word of TLS",
        run: mute,
    },
    Row {
        fault: "API: never answers anything",
        run: hangs,
    },
    Row {
        fault: "API: stalls before the head of one list",
        run: hangs_on_pods,
    },
    Row {
        fault: "API: hangs in the middle of a body",
        run: stalls,
    },
    Row {
        fault: "API: a body that drips",
        run: drips,
    },
    Row {
        fault: "API: breaks the connection in a body",
        run: cuts,
    },
    Row {
        fault: "API: closes connections instead of answering",
        run: closes,
    },
    Row {
        fault: "API: 429 with Retry-After, then fine",
        run: busy,
    },
    Row {
        fault: "API: 503, then fine",
        run: unavailable,
    },
    Row {
        fault: "API: 500 for ever",
        run: broken,
    },
    Row {
        fault: "API: continue token expired (410)",
        run: expired,
    },
    Row {
        fault: "API: an object of 20 MiB",
        run: huge,
    },
    Row {
        fault: "API: HTML instead of JSON",
        run: garbage,
    },
    Row {
        fault: "API: 401, token not accepted",
        run: unauthorized,
    },
    Row {
        fault: "API: 403 for parts",
        run: forbidden,
    },
    Row {
        fault: "API: discovery refused",
        run: no_discovery,
    },
    Row {
        fault: "kubeconfig of --kubeconfig broken",
        run: bad_kubeconfig,
    },
    Row {
        fault: "kubeconfig of KUBECONFIG broken",
        run: bad_found,
    },
    Row {
        fault: "--root of a dead node, --kubeconfig of its cluster",
        run: dead_node,
    },
    Row {
        fault: "one kubeconfig trusts another CA, the kubelet's own does not",
        run: other_ca,
    },
    Row {
        fault: "API: only the node's own rights",
        run: own_rights,
    },
    Row {
        fault: "API: away for 0.3 s while logs are fetched",
        run: blip,
    },
    Row {
        fault: "--root with a broken --kubeconfig",
        run: dead_node_bad_kubeconfig,
    },
];

fn server(cluster: Small, faults: Faults) -> Server {
    Server::start(cluster, "127.0.0.1:0".parse().unwrap(), faults).unwrap()
}

fn config(server: &Server) -> String {
    server.kubeconfig(User::Admin, Credential::Token)
}

fn with(path: &str, fault: Fault, args: &[&str]) -> (Server, Ran, Bundle) {
    let server = server(Small::new(), Faults::default().with(path, fault));
    let ran = Desk::new().keep(|desk| desk.on_cluster(&config(&server), args));
    let bundle = ran.bundle();
    (server, ran, bundle)
}

/// Of a server that gives nothing: the host is there, and nothing is said twice as often as needed.
fn no_cluster(kubeconfig: &str, said: &str, args: &[&str]) -> Result<Seen, String> {
    let ran = Desk::new().keep(|desk| desk.on_cluster(kubeconfig, args));
    let bundle = ran.bundle();
    bundle.row(&ran, OBJECTS, &[Outcome::Failed], said, &[HOST])
}

fn refused() -> Result<Seen, String> {
    let server = server(Small::new(), Faults::default());
    let config = config(&server);
    drop(server);
    no_cluster(&config, "Connection refused", &[])
}

fn wrong_ca() -> Result<Seen, String> {
    let (one, other) = (
        server(Small::new(), Faults::default()),
        server(Small::new(), Faults::default()),
    );
    let (own, wrong) = (one.address().to_string(), other.address().to_string());
    let config = config(&other).replace(&wrong, &own);
    no_cluster(&config, "certificate", &[])
}

fn mute() -> Result<Seen, String> {
    let server = server(Small::new(), Faults::default());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mute = listener.local_addr().unwrap().to_string();
    let config = config(&server).replace(&server.address().to_string(), &mute);
    no_cluster(&config, "cannot be used", &[])
}

fn hangs() -> Result<Seen, String> {
    let server = server(Small::new(), Faults::default().with("/", Fault::Hang));
    no_cluster(&config(&server), "no answer within 8 s", &[])
}

fn hangs_on_pods() -> Result<Seen, String> {
    let (_server, ran, bundle) = with("/api/v1/pods", Fault::Hang, &[]);
    let rest = &[NODES, EVENTS, HOST];
    bundle.row(
        &ran,
        OBJECTS,
        HURT,
        "LIST pods: no answer within 15 s",
        rest,
    )
}

fn stalls() -> Result<Seen, String> {
    let (_server, ran, bundle) = with("/api/v1/pods", Fault::Stall, &[]);
    let rest = &[NODES, EVENTS, HOST];
    bundle.row(
        &ran,
        OBJECTS,
        HURT,
        "the answer stopped half-way for 10 s",
        rest,
    )
}

fn drips() -> Result<Seen, String> {
    let (_server, ran, bundle) = with("/api/v1/pods", Fault::Drip, &["--source-timeout", "6s"]);
    let rest = &[NODES, EVENTS, HOST];
    bundle.row(&ran, OBJECTS, HURT, "time limit", rest)
}

fn cuts() -> Result<Seen, String> {
    let (_server, ran, bundle) = with("/api/v1/pods", Fault::Cut, &[]);
    let rest = &[NODES, EVENTS, HOST];
    bundle.row(&ran, OBJECTS, HURT, "LIST pods", rest)
}

fn closes() -> Result<Seen, String> {
    let (_server, ran, bundle) = with("/api/v1/pods", Fault::Close, &[]);
    let rest = &[NODES, EVENTS, HOST];
    bundle.row(&ran, OBJECTS, HURT, "failed: LIST pods", rest)
}

fn busy() -> Result<Seen, String> {
    let (server, ran, bundle) = with("/api/v1", Fault::Busy(429), &[]);
    let asked = server
        .requests()
        .iter()
        .filter(|one| one.starts_with("GET /api/v1/nodes"))
        .count();
    assert_eq!(asked, 3);
    whole(
        &ran,
        &bundle,
        "asked again after the second that the server wanted",
    )
}

fn unavailable() -> Result<Seen, String> {
    let (_server, ran, bundle) = with("/api/v1", Fault::Busy(503), &[]);
    whole(&ran, &bundle, "asked again")
}

fn whole(ran: &Ran, bundle: &Bundle, said: &str) -> Result<Seen, String> {
    for source in ["cluster_objects", "cluster_events", "cluster_pod_logs"] {
        let (outcome, text) = bundle.told(source);
        assert_eq!(outcome, Outcome::Collected, "{source}: {text}");
    }
    let mut seen = bundle.row(
        ran,
        OBJECTS,
        &[Outcome::Collected],
        "",
        &[PODS, NODES, EVENTS, LOG, HOST],
    )?;
    seen.said = format!("cluster_objects collected: {said}");
    Ok(seen)
}

fn broken() -> Result<Seen, String> {
    let (_server, ran, bundle) = with("/api/v1/pods", Fault::Status(500), &[]);
    let rest = &[NODES, EVENTS, HOST];
    bundle.row(&ran, OBJECTS, HURT, "failed: LIST pods: HTTP 500", rest)
}

fn expired() -> Result<Seen, String> {
    let (_server, ran, bundle) = with("/api/v1/pods", Fault::Expired, &[]);
    let rest = &[NODES, EVENTS, HOST];
    bundle.row(&ran, OBJECTS, HURT, "expired", rest)
}

fn huge() -> Result<Seen, String> {
    let (_server, ran, bundle) = with("/api/v1/configmaps", Fault::Huge, &[]);
    let rest = &["configmaps/default.json", PODS, EVENTS, HOST];
    bundle.row(
        &ran,
        OBJECTS,
        HURT,
        "1 objects of over 16777216 bytes left out",
        rest,
    )
}

fn garbage() -> Result<Seen, String> {
    let (_server, ran, bundle) = with("/api/v1/pods", Fault::Garbage, &[]);
    let rest = &[NODES, EVENTS, HOST];
    bundle.row(&ran, OBJECTS, HURT, "failed: LIST pods", rest)
}

fn unauthorized() -> Result<Seen, String> {
    let server = server(Small::new(), Faults::default());
    let config = config(&server).replace("token: ", "token: x");
    no_cluster(&config, "does not accept these credentials (HTTP 401)", &[])
}

fn forbidden() -> Result<Seen, String> {
    let server = server(
        Small::new().allowing(&["pods", "events"]),
        Faults::default(),
    );
    let ran = Desk::new().keep(|desk| desk.on_cluster(&config(&server), &[]));
    let bundle = ran.bundle();
    let asked = server.requests();
    assert!(
        !asked.iter().any(|one| one.starts_with("GET /api/v1/nodes")),
        "{asked:?}"
    );
    let said = "skipped: forbidden (LIST nodes";
    bundle.row(
        &ran,
        OBJECTS,
        &[Outcome::Partial],
        said,
        &[PODS, EVENTS, HOST],
    )
}

fn no_discovery() -> Result<Seen, String> {
    let (_server, ran, bundle) = with("/apis", Fault::Status(500), &[]);
    let rest = &[PODS, NODES, EVENTS, HOST];
    bundle.row(
        &ran,
        OBJECTS,
        HURT,
        "well-known kinds are asked for all the same",
        rest,
    )
}

fn bad_kubeconfig() -> Result<Seen, String> {
    let ran = Desk::new().keep(|desk| {
        desk.on_cluster(
            "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n",
            &[],
        )
    });
    ran.refused(
        2,
        "contexts[].context.cluster: there is no cluster named \"c\"",
    )
}

fn bad_found() -> Result<Seen, String> {
    let desk = Desk::new();
    std::fs::write(desk.path("broken"), "a: [\n").unwrap();
    let clock = std::time::Instant::now();
    let only = ["--only", "cluster_objects,host_info"];
    let output = desk
        .command(&only)
        .env("KUBECONFIG", desk.path("broken"))
        .output()
        .unwrap();
    let ran = desk.ran(output, clock);
    let bundle = ran.bundle();
    bundle.row(
        &ran,
        OBJECTS,
        &[Outcome::Failed],
        "KUBECONFIG: not a kubeconfig",
        &[HOST],
    )
}

/// The disk of a node that is dead, and the cluster that it belonged to.
fn dead_node() -> Result<Seen, String> {
    let server = server(Small::new(), Faults::default());
    let config = config(&server);
    let ran = Desk::new().keep(|desk| {
        desk.file("/etc/hostname", "gpu-2\n");
        desk.file("/etc/containerd/config.toml", "version = 2\n");
        std::fs::write(desk.path("kubeconfig"), config).unwrap();
        let file = desk.text("kubeconfig");
        desk.on_tree(&["--kubeconfig", &file])
    });
    let bundle = ran.bundle();
    let rest = &[
        PODS,
        NODES,
        EVENTS,
        LOG,
        "gpu-2/rootfs/etc/containerd/config.toml",
    ];
    bundle.row(&ran, OBJECTS, &[Outcome::Collected], "", rest)
}

fn dead_node_bad_kubeconfig() -> Result<Seen, String> {
    let ran = Desk::new().keep(|desk| {
        std::fs::write(desk.path("kubeconfig"), "a: [\n").unwrap();
        let file = desk.text("kubeconfig");
        desk.on_tree(&["--kubeconfig", &file])
    });
    ran.refused(2, "not a kubeconfig")
}

/// Two kubeconfigs of one server on a node: the first has an old CA, the second is where only the kubelet's command
/// line says.
fn other_ca() -> Result<Seen, String> {
    let clock = std::time::Instant::now();
    let (one, other) = (
        server(Small::new(), Faults::default()),
        server(Small::new(), Faults::default()),
    );
    let (own, wrong) = (one.address().to_string(), other.address().to_string());
    let desk = Desk::new();
    desk.file(
        "/etc/kubernetes/admin.conf",
        config(&other).replace(&wrong, &own),
    );
    desk.file("/opt/site/kubelet.kubeconfig", config(&one));
    desk.file("/proc/stat", "btime 1\n");
    desk.file("/proc/77/comm", "kubelet\n");
    desk.file("/proc/77/stat", "77 (kubelet) S 1\n");
    desk.file(
        "/proc/77/cmdline",
        "/usr/bin/kubelet\0--kubeconfig=/opt/site/kubelet.kubeconfig\0",
    );
    let cli = Cli::try_parse_from(["casefile-collector"]).unwrap();
    let options = Arc::new(cli.collect.resolve().unwrap());
    let handle = ClusterHandle::new(options, Host::new(desk.path("root")));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let cluster = runtime.block_on(handle.connect()).unwrap();
    assert_eq!(cluster.credentials, "/opt/site/kubelet.kubeconfig");
    let passed_over = cluster.passed_over.join("; ");
    assert!(passed_over.contains("certificate"), "{passed_over}");
    Ok(Seen {
        said: passed_over,
        rest: cluster.credentials.clone(),
        took: clock.elapsed(),
    })
}

fn own_rights() -> Result<Seen, String> {
    let pod = |name: &str, node: &str| {
        json!({"metadata": {"name": name, "namespace": "default"},
            "spec": {"nodeName": node, "containers": [{"name": "main"}],
                "volumes": [{"configMap": {"name": "settings"}}]}})
    };
    let pods = vec![pod("here-0", "gpu-1"), pod("there-0", "gpu-2")];
    let leases: Vec<_> = ["gpu-1", "gpu-2"]
        .map(|name| json!({"metadata": {"name": name, "namespace": "kube-node-lease"}}))
        .into();
    let slices: Vec<_> = ["gpu-1", "gpu-2"].map(|name| json!({"metadata": {"name": format!("slice-{name}")}, "spec": {"nodeName": name}})).into();
    let none: &[(&str, &str)] = &[];
    let cluster = Small::new()
        .with_lists(&[("pods", "Pod", pods)])
        .with_custom(("coordination.k8s.io", "leases", "Lease"), &leases, none)
        .with_custom(
            ("resource.k8s.io", "resourceslices", "ResourceSlice"),
            &slices,
            none,
        )
        .as_node("gpu-1");
    let server = server(cluster, Faults::default());
    let ran = Desk::new().keep(|desk| desk.on_cluster(&config(&server), &[]));
    let bundle = ran.bundle();
    for (end, own, other) in [
        (NODES, "\"gpu-1\"", "gpu-2"),
        (PODS, "here-0", "there-0"),
        ("kube-node-lease.json", "gpu-1", "gpu-2"),
        ("resourceslices.json", "slice-gpu-1", "slice-gpu-2"),
    ] {
        let text = bundle.content(end);
        assert!(text.contains(own) && !text.contains(other), "{end}: {text}");
    }
    let said = "only the object of the node gpu-1";
    let rest = &[NODES, PODS, "configmaps/default.json", HOST];
    bundle.row(&ran, OBJECTS, &[Outcome::Partial], said, rest)
}

fn crashing(name: &str) -> serde_json::Value {
    json!({"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": [{"name": "main"}]},
        "status": {"phase": "Running",
            "containerStatuses": [{"name": "main", "restartCount": 1, "state": {"running": {}}}]}})
}

fn blip() -> Result<Seen, String> {
    let mut pods: Vec<_> = (0..60).map(|at| crashing(&format!("web-{at}"))).collect();
    let ready = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    let healthy = json!({"metadata": {"name": "calm-0", "namespace": "default"},
        "spec": {"containers": [{"name": "main"}]}, "status": ready});
    pods.push(healthy);
    let cluster = Small::new().with_lists(&[("pods", "Pod", pods)]);
    let faults = Faults::default().with("/api/v1/namespaces/default/pods/", Fault::Blip);
    let server = server(cluster, faults);
    let ran = Desk::new().keep(|desk| {
        desk.on_cluster(
            &config(&server),
            &["--since", "1h", "--namespace", "default"],
        )
    });
    let bundle = ran.bundle();
    let (_, said) = bundle.told("cluster_pod_logs");
    assert!(
        !said.contains("stopped answering") && !said.contains("failed"),
        "{said}"
    );
    let asked = server.requests();
    for at in 0..60 {
        let log = format!("/pods/web-{at}/log?container=main&timestamps=true&sinceSeconds=3600&");
        assert!(
            asked.iter().any(|one| one.contains(&log)),
            "{log} of {asked:?}"
        );
    }
    assert!(
        asked.iter().any(|one| one.contains("/pods/calm-0/log?")),
        "{asked:?}"
    );
    bundle.row(&ran, OBJECTS, &[Outcome::Collected], "", &[PODS])
}
