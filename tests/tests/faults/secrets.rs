//! Secrets as charts make them: names, hosts, ports, users, models and URLs beside credentials, and credentials that
//! stand a second time where no name gives them away.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use casefile_bundle::{Limits, Outcome, read_entries};
use casefile_tests::recording::User;
use casefile_tests::replay::small::Small;
use casefile_tests::replay::{Credential, Faults, Server};
use serde_json::{Value, json};

use crate::desk::{Bundle, Desk, Ran, Row, Seen};

const OBJECTS: &str = "cluster_objects";
const NAMESPACES: usize = 300;

pub(crate) const ROWS: &[Row] = &[
    Row {
        fault: "Secrets of charts in 300 namespaces",
        run: charts,
    },
    Row {
        fault: "a credential stands again in a ConfigMap",
        run: again,
    },
    Row {
        fault: "a credential again, --strict-leaks",
        run: strict,
    },
    Row {
        fault: "a secret that only another scanner's rule knows",
        run: by_rule,
    },
    Row {
        fault: "--leak-rules of no format",
        run: no_rules,
    },
];

/// A password as generators make them, another for each seed.
fn password(seed: usize, length: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
    let mut state = seed as u64 * 2_654_435_761 + 88_172_645_463_325_252;
    let mut made = String::from("aB3");
    while made.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let at = usize::try_from(state % LETTERS.len() as u64).unwrap();
        made.push(char::from(LETTERS[at]));
    }
    made
}

fn secret(namespace: &str, name: &str, values: &[(&str, &str)]) -> Value {
    let data: serde_json::Map<String, Value> = values
        .iter()
        .map(|(key, value)| ((*key).to_owned(), json!(STANDARD.encode(value))))
        .collect();
    json!({"metadata": {"name": name, "namespace": namespace}, "type": "Opaque", "data": data})
}

fn object(namespace: &str, name: &str, rest: &Value) -> Value {
    let mut all = json!({"metadata": {"name": name, "namespace": namespace}});
    for (key, value) in rest.as_object().unwrap() {
        all[key] = value.clone();
    }
    all
}

/// One namespace of charts: its Secrets, Services and ConfigMaps, and the credentials in them.
struct Charts {
    secrets: Vec<Value>,
    services: Vec<Value>,
    maps: Vec<Value>,
    credentials: Vec<String>,
}

const MODEL: &str = "Qwen2.5-72B-Instruct-AWQ";

fn namespace(at: usize) -> Charts {
    let ns = format!("team-{at}");
    let host = format!("pg16-cluster{at}-rw");
    let words: Vec<String> = (0..5).map(|n| password(at * 10 + n, 24 + n)).collect();
    let [pg, redis, minio, token, short] = words.as_slice() else {
        unreachable!()
    };
    let short = &short[..10];
    let full = format!("{host}.{ns}.svc.cluster.local");
    let user = format!("default_user_{at}Xq7Zt9");
    let uri = format!("postgresql://app:{pg}@{host}.{ns}:5432/app");
    let pass = format!("{host}:5432:app:app:{pg}\n");
    let secrets = vec![
        secret(
            &ns,
            "pg16-cluster-app",
            &[
                ("host", &host),
                ("port", "5432"),
                ("user", "app-owner-2024"),
                ("username", "app-owner-2024"),
                ("dbname", "inference01db"),
                ("password", pg),
                ("uri", &uri),
                ("pgpass", &pass),
                ("fqdn-uri", &uri),
            ],
        ),
        secret(
            &ns,
            "redis-master1",
            &[
                ("redis-password", redis),
                ("REDIS_ADDR", &full),
                ("config", &host),
            ],
        ),
        secret(
            &ns,
            "minio-tenant1",
            &[
                ("rootUser", &user),
                ("rootPassword", minio),
                ("endpoint", "http://minio-tenant1-hl:9000"),
                ("MINIO_BUCKET", "models-eu-central-1"),
                ("secretName", "minio-tenant1"),
            ],
        ),
        secret(
            &ns,
            "llm-settings1",
            &[
                ("HF_TOKEN", token),
                ("MODEL_NAME", MODEL),
                ("LLM", MODEL),
                ("OPENAI_BASE_URL", "http://vllm-router1.models/v1"),
                ("admin-password", short),
            ],
        ),
    ];
    let services = vec![object(
        &ns,
        &host,
        &json!({"spec": {"selector": {"cnpg.io/cluster": "pg16-cluster"}}}),
    )];
    let maps = vec![object(
        &ns,
        "app-settings",
        &json!({"data": {
            "model": MODEL, "database": full, "owner": "app-owner-2024", "db": "inference01db",
            "bucket": "models-eu-central-1", "broker-user": user,
        }}),
    )];
    let mut credentials: Vec<String> = words[..4].to_vec();
    credentials.push(short.to_owned());
    Charts {
        secrets,
        services,
        maps,
        credentials,
    }
}

fn run(charts: &[Charts], args: &[&str]) -> Ran {
    let all = |part: fn(&Charts) -> &Vec<Value>| {
        charts.iter().flat_map(part).cloned().collect::<Vec<_>>()
    };
    let cluster = Small::new().with_lists(&[
        ("secrets", "Secret", all(|one| &one.secrets)),
        ("services", "Service", all(|one| &one.services)),
        ("configmaps", "ConfigMap", all(|one| &one.maps)),
    ]);
    let server = Server::start(cluster, "127.0.0.1:0".parse().unwrap(), Faults::default()).unwrap();
    let config = server.kubeconfig(User::Admin, Credential::Token);
    Desk::new().keep(|desk| desk.on_cluster(&config, args))
}

/// Everything that the bundle says.
fn text_of(bundle: &Bundle) -> String {
    let all = |_: &str| true;
    let entries = read_entries(&bundle.file, &Limits::default(), &all, 64 << 20, 1 << 30).unwrap();
    let parts = entries.into_iter().flat_map(|(path, bytes)| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        [path, text]
    });
    parts.collect()
}

fn charts() -> Result<Seen, String> {
    let charts: Vec<Charts> = (0..NAMESPACES).map(namespace).collect();
    let ran = run(&charts, &[]);
    let bundle = ran.bundle();
    let text = text_of(&bundle);
    for credential in charts.iter().flat_map(|one| &one.credentials) {
        assert!(
            !text.contains(credential.as_str()),
            "a credential is in the bundle"
        );
    }
    for at in (0..NAMESPACES).step_by(25) {
        let maps = bundle.content(&format!("configmaps/team-{at}.json"));
        let host = format!("pg16-cluster{at}-rw.team-{at}.svc.cluster.local");
        for name in [
            &host,
            MODEL,
            "app-owner-2024",
            "inference01db",
            "models-eu-central-1",
        ] {
            assert!(maps.contains(name), "{name} was replaced: {maps}");
        }
    }
    assert!(
        !text.contains("<redacted:leak-check"),
        "a public name was replaced"
    );
    bundle.row(
        &ran,
        OBJECTS,
        &[Outcome::Collected],
        "",
        &["configmaps/team-7.json"],
    )
}

/// The first namespace's credentials stand again, each in another form.
fn repeated() -> Vec<Charts> {
    let mut one = namespace(0);
    let [pg, redis, minio, token, _] = one.credentials.as_slice() else {
        unreachable!()
    };
    let encoded = STANDARD.encode(format!("xy app:{minio}"));
    let data = json!({"data": {
        "notes": format!("ask for {pg} or try\n\"{redis}\""), "blob": encoded, "line": format!("x{token}y"),
    }});
    let map = object("team-0", "remarks", &data);
    one.maps.push(map);
    vec![one]
}

fn again() -> Result<Seen, String> {
    let charts = repeated();
    let ran = run(&charts, &[]);
    let bundle = ran.bundle();
    let text = text_of(&bundle);
    for credential in &charts[0].credentials {
        assert!(
            !text.contains(credential.as_str()),
            "a credential is in the bundle"
        );
    }
    let maps = bundle.content("configmaps/team-0.json");
    assert!(
        !maps.contains(&STANDARD.encode("xy app:aB3")[..16])
            || maps.contains("<redacted:leak-check:"),
        "{maps}"
    );
    for line in maps
        .lines()
        .filter(|line| line.starts_with('{') && line.len() > 2)
    {
        assert!(
            !line.contains("remarks") || line.matches("<redacted:").count() == 4,
            "{line}"
        );
    }
    assert!(maps.contains("ask for <redacted:"), "{maps}");
    bundle.row(
        &ran,
        OBJECTS,
        &[Outcome::Collected],
        "found by the leak check and replaced",
        &["configmaps/team-0.json"],
    )
}

fn strict() -> Result<Seen, String> {
    run(&repeated(), &["--strict-leaks"]).refused(3, "configmaps/team-0.json:")
}

/// Words of no name and no form, as a passphrase in a comment is.
const WORDS: &str = "blue-horse-staple-fish";

fn by_rule() -> Result<Seen, String> {
    let desk = Desk::new();
    desk.file("/etc/os-release", "ID=ubuntu\n");
    desk.file("/etc/hostname", "gpu-1\n");
    let fstab = format!("# door: {WORDS} is for the vault\n/dev/sda1 / ext4\n");
    desk.file("/etc/fstab", fstab);
    let rule = "[[rules]]\nid = 'door'\nregex = '''door: ([a-z-]{12,})'''\nkeywords = ['door']\n";
    std::fs::write(desk.path("rules.toml"), rule).unwrap();
    let only = ["--only", "host_info"];
    let without = desk.on_tree(&only);
    assert!(without.bundle().content("/etc/fstab").contains(WORDS));
    std::fs::remove_file(&without.files[0]).unwrap();
    let rules = desk.text("rules.toml");
    let ran = desk.on_tree(&[&["--leak-rules", &rules][..], &only].concat());
    let bundle = ran.bundle();
    let file = bundle.content("/etc/fstab");
    let mended = "# door: <redacted:leak-check> is for the vault\n/dev/sda1 / ext4\n";
    assert_eq!(file, mended);
    let some = &[Outcome::Collected, Outcome::Partial];
    let mut seen = bundle.row(&ran, "host_info", some, "", &["/etc/hostname"])?;
    seen.said = file.lines().next().unwrap_or_default().to_owned();
    Ok(seen)
}

fn no_rules() -> Result<Seen, String> {
    let desk = Desk::new();
    std::fs::write(desk.path("rules.toml"), "x = [").unwrap();
    desk.on_tree(&["--leak-rules", &desk.text("rules.toml")])
        .refused(2, "no TOML of rules")
}
