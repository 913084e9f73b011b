//! Secrets as charts make them: names, hosts, ports, users, models and URLs beside credentials, and credentials that
//! stand a second time where no name gives them away.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use casefile_bundle::{Limits, Outcome, read_entries};
use casefile_tests::recording::User;
use casefile_tests::replay::small::Small;
use casefile_tests::replay::{Credential, Faults, Server};
use serde_json::{Value, json};

use crate::charts::{CHARTS, Chart, SHAPES, credential};
use crate::charts_more::MORE;
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

fn secret(namespace: &str, name: &str, values: &[(&str, String)]) -> Value {
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

/// One namespace of charts: its Secrets, and the objects in which their names stand for all to read.
#[derive(Default)]
struct Namespace {
    secrets: Vec<Value>,
    services: Vec<Value>,
    maps: Vec<Value>,
    customs: Vec<Value>,
    events: Vec<Value>,
    credentials: Vec<String>,
    /// Names, and the texts in which credentials stand again.
    public: Vec<String>,
    again: Vec<String>,
}

/// Charts of one namespace.
const EACH: usize = 4;

fn all_charts() -> Vec<&'static Chart> {
    CHARTS.iter().chain(MORE).collect()
}

fn namespace(at: usize) -> Namespace {
    let charts = all_charts();
    let ns = format!("team-{at}");
    let mut made = Namespace::default();
    for nth in 0..EACH {
        let chart = charts[(at * EACH + nth) % charts.len()];
        let seed = |shape: usize| (at * EACH + nth) * SHAPES.len() + shape + 1;
        let fill = |text: &str| {
            let named = text.replace("{ns}", &ns).replace("{at}", &at.to_string());
            let shapes = SHAPES.iter().enumerate();
            shapes.fold(named, |text, (at, shape)| {
                text.replace(shape, &credential(shape, seed(at)))
            })
        };
        let values: Vec<(&str, String)> = chart
            .values
            .iter()
            .map(|(key, value)| (*key, fill(value)))
            .collect();
        made.secrets.push(secret(&ns, chart.secret, &values));
        for (at, shape) in SHAPES.iter().enumerate() {
            if chart.values.iter().any(|(_, value)| value.contains(shape)) {
                made.credentials.push(credential(shape, seed(at)));
            }
        }
        made.public
            .extend(chart.public.iter().map(|name| fill(name)));
    }
    made.public.sort();
    made.public.dedup();
    show(&ns, &mut made);
    made
}

/// Puts the names where anybody may read them: Services, ConfigMaps, fields and columns of custom resources, events.
fn show(ns: &str, made: &mut Namespace) {
    let is_label = |name: &&String| {
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        name.bytes().all(fits)
    };
    for name in made.public.iter().filter(is_label) {
        made.services.push(object(
            ns,
            name,
            &json!({"spec": {"selector": {"app": name}}}),
        ));
    }
    let numbered = |(at, name): (usize, &String)| (format!("s{at}"), json!(name));
    let data: serde_json::Map<String, Value> =
        made.public.iter().enumerate().map(numbered).collect();
    made.maps
        .push(object(ns, "settings", &json!({"data": data})));
    for (at, name) in made.public.iter().enumerate() {
        let body =
            json!({"spec": {"target": name}, "status": {"summary": format!("serving {name}")}});
        made.customs.push(object(ns, &format!("shown-{at}"), &body));
        let event = json!({"type": "Warning", "reason": "Unhealthy", "message": format!("no answer of {name} within 5s"),
            "involvedObject": {"kind": "Pod", "name": "web-0", "namespace": ns}, "lastTimestamp": "2026-01-01T00:00:00Z"});
        made.events.push(object(ns, &format!("web-0.{at}"), &event));
    }
}

/// Puts each credential a second time where no name gives it away, one form after the other.
fn repeat(at: usize, made: &mut Namespace) {
    let ns = format!("team-{at}");
    for (nth, credential) in made.credentials.iter().enumerate() {
        let name = format!("again-{nth}");
        let (text, needle) = match (at + nth) % 5 {
            0 => (
                format!("restored with {credential} on Monday"),
                credential.clone(),
            ),
            1 => {
                let inner = json!({"note": format!("first\n{credential}")}).to_string();
                (inner, credential.clone())
            }
            2 => {
                // Not where a group of three bytes begins.
                let whole = STANDARD.encode(format!("xy app:{credential} "));
                let inside = whole.len() - credential.len();
                (
                    whole.clone(),
                    whole[inside..].trim_end_matches('=').to_owned(),
                )
            }
            3 => {
                let escaped = percent_encoding::utf8_percent_encode(
                    credential,
                    percent_encoding::NON_ALPHANUMERIC,
                );
                let escaped = escaped.to_string();
                (format!("GET /v1/run?x={escaped}"), escaped)
            }
            _ => (format!("cannot bind {credential}"), credential.clone()),
        };
        made.again.push(needle);
        match (at + nth) % 3 {
            0 => made
                .maps
                .push(object(&ns, &name, &json!({"data": {"remark": text}}))),
            1 => made.customs.push(object(
                &ns,
                &name,
                &json!({"spec": {}, "status": {"summary": text}}),
            )),
            _ => made.events.push(object(
                &ns,
                &name,
                &json!({"reason": "Odd", "message": text,
                "involvedObject": {"kind": "Pod", "name": "web-0", "namespace": ns}}),
            )),
        }
    }
}

fn run(charts: &[Namespace], args: &[&str]) -> Ran {
    let all = |part: fn(&Namespace) -> &Vec<Value>| {
        charts.iter().flat_map(part).cloned().collect::<Vec<_>>()
    };
    let cluster = Small::new()
        .with_lists(&[
            ("secrets", "Secret", all(|one| &one.secrets)),
            ("services", "Service", all(|one| &one.services)),
            ("configmaps", "ConfigMap", all(|one| &one.maps)),
            ("events", "Event", all(|one| &one.events)),
        ])
        .with_custom(
            ("serving.example.com", "modelservers", "ModelServer"),
            &all(|one| &one.customs),
            &[("Name", "/metadata/name"), ("Summary", "/status/summary")],
        );
    let server = Server::start(cluster, "127.0.0.1:0".parse().unwrap(), Faults::default()).unwrap();
    let config = server.kubeconfig(User::Admin, Credential::Token);
    Desk::new().keep(|desk| desk.on_cluster(&config, args))
}

/// Everything that the bundle says, by the path of its entry.
fn texts_of(bundle: &Bundle) -> BTreeMap<String, String> {
    let all = |_: &str| true;
    let entries = read_entries(&bundle.file, &Limits::default(), &all, 64 << 20, 1 << 30).unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    entries
        .into_iter()
        .map(|(path, bytes)| (path, text(bytes)))
        .collect()
}

/// Places in which a name stood, and the names of those where it no longer does.
fn public_lost(charts: &[Namespace], texts: &BTreeMap<String, String>) -> (usize, Vec<String>) {
    let text = |end: &str| {
        let found = texts.iter().find(|(path, _)| path.ends_with(end));
        found.map_or_else(|| panic!("no {end}"), |(_, text)| text.as_str())
    };
    let columns = text("cluster-info/tables/modelservers.serving.example.com.json");
    let (mut places, mut lost) = (0, Vec::new());
    for (at, one) in charts.iter().enumerate() {
        let map = text(&format!("/configmaps/team-{at}.json"));
        let custom = text(&format!("/modelservers.serving.example.com/team-{at}.json"));
        let event = text(&format!("/events/team-{at}.json"));
        for name in &one.public {
            let shown = [
                (map, format!("\"{name}\"")),
                (custom, format!("\"target\":\"{name}\"")),
                (custom, format!("serving {name}")),
                (columns, format!("serving {name}")),
                (event, format!("no answer of {name} within")),
            ];
            places += shown.len();
            let gone = shown
                .iter()
                .filter(|(text, part)| !text.contains(part.as_str()));
            lost.extend(gone.map(|(_, part)| part.clone()));
        }
    }
    (places, lost)
}

fn charts() -> Result<Seen, String> {
    let mut charts: Vec<Namespace> = (0..NAMESPACES).map(namespace).collect();
    for (at, one) in charts.iter_mut().enumerate() {
        repeat(at, one);
    }
    let ran = run(&charts, &[]);
    let bundle = ran.bundle();
    let texts = texts_of(&bundle);
    let credentials: Vec<&String> = charts
        .iter()
        .flat_map(|one| one.credentials.iter().chain(&one.again))
        .collect();
    let search = aho_corasick::AhoCorasick::new(&credentials).unwrap();
    for (path, text) in &texts {
        let found = search.find(text.as_str());
        let form = found.map(|hit| hit.len());
        assert!(found.is_none(), "a credential is in {path}, {form:?} bytes");
    }
    let (places, lost) = public_lost(&charts, &texts);
    assert!(
        lost.len() * 200 < places,
        "{} of {places}: {lost:?}",
        lost.len()
    );
    let some = &[Outcome::Collected];
    let mut seen = bundle.row(&ran, OBJECTS, some, "", &["configmaps/team-7.json"])?;
    seen.said = format!(
        "{} Secrets of {} charts: 0 of {} texts of credentials inside; {} of {places} public names replaced",
        NAMESPACES * EACH,
        all_charts().len(),
        credentials.len(),
        lost.len(),
    );
    Ok(seen)
}

/// One Secret, whose credentials stand again, each in another form. They are made of words, so that nothing but the other
/// place gives them away.
fn repeated() -> (Vec<Namespace>, [String; 4]) {
    let made = ["Horse", "Meadow", "Copper", "Window"]
        .map(|word| format!("Correct-{word}{}-Battery", word.len()));
    let [pg, redis, minio, token] = &made;
    let keys = ["password", "redis-password", "rootPassword", "HF_TOKEN"];
    let values: Vec<(&str, String)> = keys.into_iter().zip(made.clone()).collect();
    let encoded = STANDARD.encode(format!("xy app:{minio}"));
    let data = json!({"data": {
        "notes": format!("ask for {pg} or try\n\"{redis}\""), "blob": encoded, "line": format!("x{token}y"),
    }});
    let one = Namespace {
        secrets: vec![secret("team-0", "app", &values)],
        maps: vec![object("team-0", "remarks", &data)],
        customs: vec![object(
            "team-0",
            "one",
            &json!({"status": {"summary": format!("bound with {pg}")}}),
        )],
        ..Namespace::default()
    };
    (vec![one], made)
}

fn again() -> Result<Seen, String> {
    let (charts, credentials) = repeated();
    let ran = run(&charts, &[]);
    let bundle = ran.bundle();
    let texts = texts_of(&bundle);
    for (path, text) in &texts {
        for credential in &credentials {
            assert!(
                !text.contains(credential.as_str()),
                "a credential is in {path}"
            );
        }
    }
    let maps = bundle.content("configmaps/team-0.json");
    let mut remarks = maps.lines().filter(|line| line.contains("remarks"));
    let remarks = remarks.next().unwrap_or_default();
    assert_eq!(remarks.matches("<redacted:").count(), 4, "{remarks}");
    assert!(maps.contains("ask for <redacted:"), "{maps}");
    let columns = bundle.content("tables/modelservers.serving.example.com.json");
    assert!(
        columns.contains("bound with <redacted:leak-check:"),
        "{columns}"
    );
    bundle.row(
        &ran,
        OBJECTS,
        &[Outcome::Collected],
        "found by the leak check and replaced",
        &["configmaps/team-0.json"],
    )
}

fn strict() -> Result<Seen, String> {
    run(&repeated().0, &["--strict-leaks"]).refused(3, "configmaps/team-0.json:")
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
