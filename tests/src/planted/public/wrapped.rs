//! Secrets behind other writing: escapes, colours, line ends, encodings.

use super::{Shape, word};
use crate::planted::places::{b64, conf, plain, yaml};

pub(super) const SHAPES: &[Shape] = &[
    ("klog with JSON escaped in it", word, |s| {
        plain(format!(
            "I1120 10:15:00.000000 1 x.go:1] \"config\" data=\"{{\\\"auth\\\":{{\\\"password\\\":\\\"{s}\\\"}}}}\"\n"
        ))
    }),
    ("env with Windows line ends", word, |s| {
        conf("a.env", format!("A=1\r\nDB_PASSWORD={s}\r\nB=2\r\n"))
    }),
    ("YAML with Windows line ends", word, |s| {
        conf(
            "a.yaml",
            format!("db:\r\n  password: |\r\n    {s}\r\n  port: 1\r\n"),
        )
    }),
    ("colour between name and value", word, |s| {
        plain(format!(
            "\u{1b}[32mpassword\u{1b}[0m=\u{1b}[36m{s}\u{1b}[0m host=db\n"
        ))
    }),
    ("colour before the name", word, |s| {
        plain(format!("\u{1b}[31mapi_key={s}\u{1b}[0m host=db\n"))
    }),
    ("name URL-encoded", word, |s| {
        plain(format!("POST body user%3Dme%26password%3D{s}%26x%3D1\n"))
    }),
    ("unicode escapes of Go", word, |s| {
        plain(format!("body=\"user=me\\u0026password={s}\\u0026x=1\"\n"))
    }),
    ("unicode escapes in JSON", word, |s| {
        conf(
            "a.json",
            format!("{{\"cmd\":\"x\\u0026api_key={s}\\u0026y\"}}\n"),
        )
    }),
    (
        "YAML folded over lines",
        |r| r.mixed(30),
        |s| yaml(format!("token: >\n  {}\n  tail\nport: 1\n", s)),
    ),
    ("YAML sequence of pairs", word, |s| {
        yaml(format!(
            "env:\n  - name: \"API_TOKEN\"\n    # set by ops\n    value: {s}1A\n"
        ))
    }),
    ("YAML explicit key", word, |s| {
        yaml(format!("? password\n: {s}\nport: 1\n"))
    }),
    ("journal export, binary field", word, |s| {
        let text = format!("a\npassword={s}\n");
        let mut bytes = b"__CURSOR=x\nMESSAGE\n".to_vec();
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend(b"\nPRIORITY=6\n\n");
        let mut document = conf("x.export", String::new());
        document.bytes = bytes;
        document
    }),
    ("big-endian UTF-16", word, |s| {
        let mut document = conf("a.reg", String::new());
        let text = format!("\u{feff}DB_PASSWORD={s}\r\n");
        document.bytes = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        document
    }),
    ("UTF-16 without a mark", word, |s| {
        let mut document = conf("a.reg", String::new());
        let text = format!("A=1\r\nDB_PASSWORD={s}\r\n");
        document.bytes = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        document
    }),
    ("Python repr of bytes", word, |s| {
        plain(format!("config {{b'password': b'{s}'}}\n"))
    }),
    ("Ruby hash", word, |s| {
        plain(format!("{{:password=>\"{s}\", :user=>\"me\"}}\n"))
    }),
    ("PHP array", word, |s| {
        plain(format!("'db_password' => '{s}',\n"))
    }),
    ("logfmt with a dotted name", word, |s| {
        plain(format!("level=info db.password={s} db.host=x\n"))
    }),
    ("Go struct with +v", word, |s| {
        plain(format!("&{{Username:me Password:{s} Host:db}}\n"))
    }),
    ("Java toString", word, |s| {
        plain(format!("Config(user=me, password={s}, host=db)\n"))
    }),
    ("Kubernetes env dump", word, |s| {
        plain(format!(
            "    Environment:\n      DB_PASSWORD:  {s}\n      MODE:         fast\n"
        ))
    }),
    ("docker inspect", word, |s| {
        conf(
            "inspect.json",
            format!(
                "[\n  {{\n    \"Env\": [\n      \"PATH=/bin\",\n      \"DB_PASSWORD={s}\"\n    ]\n  }}\n]\n"
            ),
        )
    }),
    ("ps e environment", word, |s| {
        plain(format!(
            "1 ? Ss 0:00 /bin/app HOME=/ DB_PASSWORD={s} LANG=C\n"
        ))
    }),
    ("proxy in lower case", word, |s| {
        conf(
            "environment",
            format!("http_proxy=http://me:{s}@proxy:3128/\n"),
        )
    }),
    ("proxy in kubelet drop-in", word, |s| {
        conf(
            "proxy.conf",
            format!("[Service]\nEnvironment=\"HTTPS_PROXY=http://me:{s}@proxy:3128\"\n"),
        )
    }),
    (
        "helm values in base64 over lines",
        |r| r.mixed(18),
        |s| {
            let text = b64(format!(
                "image: x\nadminPassword: {s}\nport: 8080\nmore: {}\n",
                "y".repeat(80)
            ));
            let lines: Vec<&str> = text
                .as_bytes()
                .chunks(76)
                .filter_map(|part| std::str::from_utf8(part).ok())
                .collect();
            conf("a.b64", format!("{}\n", lines.join("\n")))
        },
    ),
    ("tab-separated", word, |s| {
        plain(format!("user\tme\npassword\t{s}\n"))
    }),
    ("aligned table", word, |s| {
        plain(format!("Username        me\nPassword        {s}\n"))
    }),
];
