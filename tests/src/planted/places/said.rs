//! Places in journals, logs and command lines.

use serde_json::json;

use super::{Place, at, at_but, camel, field, flag, journal, line, plain, pod};
use crate::planted::{Content, Document, Format};

pub(super) const PLACES: &[Place] = &[
    at("journal message", |p| {
        journal(json!(format!(
            "login with {}={} failed",
            field(p),
            p.secret
        )))
    }),
    at("journal message, bytes", |p| {
        journal(json!(
            format!("\u{1b}[31mlogin with {}={} failed", field(p), p.secret).as_bytes()
        ))
    }),
    at("journal command line", |p| {
        line(
            &json!({"_CMDLINE":format!("/usr/bin/a --{} {} --v=2", flag(p), p.secret),"MESSAGE":"x"}),
        )
    }),
    at("journal unknown field", |p| {
        line(&json!({p.key:p.secret,"MESSAGE":"x"}))
    }),
    at("log, key=value", |p| {
        plain(format!(
            "2026-11-20T10:15:00Z level=error msg=\"no login\" {}={} host=db\n",
            field(p),
            p.secret
        ))
    }),
    at("log, key=\"value\"", |p| {
        plain(format!(
            "level=error msg=\"no login\" {}=\"{}\" host=db\n",
            field(p),
            p.secret
        ))
    }),
    at("log, key: value", |p| {
        plain(format!(
            "E1120 10:15:00.000000 1 x.go:1] login failed, {}: {}\n",
            field(p),
            p.secret
        ))
    }),
    at("log, JSON", |p| {
        plain(format!(
            "2026-11-20T10:15:00Z stdout F {}\n",
            json!({"level":"info",camel(p):p.secret})
        ))
    }),
    at("log, Go quoted", |p| {
        plain(format!(
            "time=\"x\" level=info msg=\"config {}\"\n",
            json!({field(p):p.secret}).to_string().replace('"', "\\\"")
        ))
    }),
    at("log, Go quoted twice", |p| {
        plain(format!(
            "msg=\"config {}\"\n",
            json!({field(p):p.secret})
                .to_string()
                .replace('"', "\\\\\\\"")
        ))
    }),
    at_but("log, Go map", "]", |p| {
        plain(format!("config map[{}:{} user:me]\n", field(p), p.secret))
    }),
    at("log, Go struct", |p| {
        plain(format!(
            "config {{User:me {}:\"{}\" Port:1}}\n",
            p.key, p.secret
        ))
    }),
    at_but("log, Python dict", "'", |p| {
        plain(format!(
            "config {{'user': 'me', '{}': '{}', 'port': 1}}\n",
            field(p),
            p.secret
        ))
    }),
    at("log, CRI, CRLF", |p| {
        plain(format!(
            "2026-11-20T10:15:00.1Z stderr F {}={}\r\nnext\r\n",
            p.key, p.secret
        ))
    }),
    at("no line end", |p| plain(format!("{}={}", p.key, p.secret))),
    at("command line --flag=", |p| {
        plain(format!(
            "root 1 0.0 /usr/bin/a --{}={} --v=2\n",
            flag(p),
            p.secret
        ))
    }),
    at("command line --flag", |p| {
        plain(format!(
            "root 1 0.0 /usr/bin/a --{} {} --v=2\n",
            flag(p),
            p.secret
        ))
    }),
    at_but("command line, quoted", "'", |p| {
        plain(format!("$ a --{} '{}' --v=2\n", flag(p), p.secret))
    }),
    at_but("helm --set", ",", |p| {
        plain(format!(
            "helm install a b --set user=me,db.{}={},mode=fast -n x\n",
            camel(p),
            p.secret
        ))
    }),
    at("kubectl --from-literal", |p| {
        plain(format!(
            "kubectl create secret generic a --from-literal=whatever={} -n x\n",
            p.secret
        ))
    }),
    at("process list", |p| {
        Document::new(
            Content::JsonLines,
            "processes.json",
            Format::JsonLines,
            format!(
                "[{{\"pid\":1,\"cmdline\":[\"/a\",\"--{}\",{}]}}]\n",
                flag(p),
                json!(p.secret)
            )
            .into_bytes(),
        )
    }),
    at_but("mysql -p", "'\"", |p| {
        plain(format!("mysql -u me -p{} -h db\n", p.secret))
    }),
    at_but("mysql -p, JSON", "'", |p| {
        line(&pod(
            json!({"name":"web","command":["/usr/bin/mysqldump","-ume",format!("-p{}", p.secret),"shop"]}),
        ))
    }),
    at_but("curl -u", "'\":", |p| {
        plain(format!(
            "curl -sS -u me:{} https://r.example/v2/\n",
            p.secret
        ))
    }),
    at_but("curl -u, JSON", ":", |p| {
        line(&pod(
            json!({"name":"web","command":["curl","-fsS","-u",format!("me:{}", p.secret),"https://r.example"]}),
        ))
    }),
    at_but("curl header", "'\"", |p| {
        plain(format!(
            "curl -H 'X-Auth-Token: {}' https://r.example\n",
            p.secret
        ))
    }),
    at_but("sshpass -p", "'\"", |p| {
        plain(format!("sshpass -p {} ssh me@gpu-1\n", p.secret))
    }),
    at_but("redis-cli -a", "'\"", |p| {
        plain(format!("redis-cli -h r -a {} ping\n", p.secret))
    }),
    at_but("docker login -p", "'\"", |p| {
        plain(format!("docker login -u me -p {} nvcr.io\n", p.secret))
    }),
    at_but("ipmitool -P", "'\"", |p| {
        plain(format!(
            "ipmitool -I lanplus -H bmc -U admin -P {} power status\n",
            p.secret
        ))
    }),
    at_but("openssl -passin", "'\"", |p| {
        plain(format!(
            "openssl rsa -in k.pem -passin pass:{} -out x\n",
            p.secret
        ))
    }),
    at_but("ldapsearch -w", "'\"", |p| {
        plain(format!("ldapsearch -x -D cn=me -w {} -b dc=x\n", p.secret))
    }),
];
