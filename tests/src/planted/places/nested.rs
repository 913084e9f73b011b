//! Places in JSON, and in one format inside another.

use serde_json::json;

use super::{Place, at, at_but, b64, camel, field, flag, gzip, line, pod, pretty, yaml};
use crate::planted::{Content, Document, Format};

pub(super) const PLACES: &[Place] = &[
    at("JSON line", |p| {
        line(&json!({"kind":"ConfigMap","data":{camel(p): p.secret,"mode":"fast"}}))
    }),
    at("JSON pretty", |p| {
        pretty(&json!({"a":{field(p): p.secret,"b":[1,2]}}))
    }),
    at("JSON env", |p| {
        line(&pod(
            json!({"name":"web","env":[{"name":p.key,"value":p.secret},{"name":"MODE","value":"fast"}]}),
        ))
    }),
    at("JSON env, value first", |p| {
        Document::new(
            Content::JsonLines,
            "items.json",
            Format::JsonLines,
            format!(
                "{{\"env\":[{{\"value\":{},\"name\":{}}}]}}\n",
                json!(p.secret),
                json!(p.key)
            )
            .into_bytes(),
        )
    }),
    at("JSON env, pretty", |p| {
        pretty(&json!({"env":[{"name":p.key,"value":p.secret},{"name":"MODE","value":"fast"}]}))
    }),
    at("JSON args", |p| {
        line(&pod(
            json!({"name":"web","args":[format!("--{}", flag(p)), p.secret, "--v=2"]}),
        ))
    }),
    at("JSON args, one word", |p| {
        line(&pod(
            json!({"name":"web","args":[format!("--{}={}", flag(p), p.secret), "--v=2"]}),
        ))
    }),
    at("JSON args, pretty", |p| {
        pretty(&json!({"args":[format!("--{}", flag(p)), p.secret, "--v=2"]}))
    }),
    at_but("JSON shell command", "'", |p| {
        line(&pod(
            json!({"name":"web","command":["sh","-c",format!("{}='{}' exec /app --v=2", p.key, p.secret)]}),
        ))
    }),
    at("JSON list under a name", |p| {
        line(&json!({"a":{format!("{}s", camel(p).trim_end_matches('s')): [p.secret],"b":1}}))
    }),
    at("JSON in a string in JSON", |p| {
        line(
            &json!({"metadata":{"annotations":{"last":json!({"spec":{"env":[{"name":p.key,"value":p.secret}]}}).to_string()}}}),
        )
    }),
    at("JSON in JSON in JSON", |p| {
        line(&json!({"a":json!({"b":json!({field(p):p.secret}).to_string()}).to_string()}))
    }),
    at("YAML in a string in JSON", |p| {
        line(
            &json!({"kind":"ConfigMap","data":{"values.yaml":format!("db:\n  {}: \"{}\"\n  port: 1\n", camel(p), p.secret)}}),
        )
    }),
    at("TOML in a string in JSON", |p| {
        line(
            &json!({"kind":"ConfigMap","data":{"c.toml":format!("[a]\n{} = \"{}\"\n", field(p), p.secret)}}),
        )
    }),
    at("JSON in a block in YAML", |p| {
        yaml(format!(
            "data:\n  config.json: |\n    {}\n  mode: fast\n",
            json!({field(p):p.secret,"x":1})
        ))
    }),
    at("JSON in a string in YAML", |p| {
        yaml(format!(
            "data:\n  config.json: '{}'\n",
            json!({field(p):p.secret,"x":1})
                .to_string()
                .replace('\'', "''")
        ))
    }),
    at("YAML in base64 in JSON", |p| {
        line(
            &json!({"data":{"values":b64(format!("db:\n  {}: \"{}\"\n  port: 1\n", camel(p), p.secret))}}),
        )
    }),
    at("JSON in base64 in YAML", |p| {
        yaml(format!(
            "blob: {}\nport: 1\n",
            b64(json!({"x":1,field(p):p.secret}).to_string())
        ))
    }),
    at("env in base64 twice", |p| {
        line(&json!({"blob":b64(b64(format!("A=1\n{}={}\n", p.key, p.secret)))}))
    }),
    at("gzip in base64 in JSON", |p| {
        line(
            &json!({"release":b64(gzip(json!({"config":{field(p):p.secret}}).to_string().as_bytes()))}),
        )
    }),
    at("gzip in base64 twice (helm)", |p| {
        line(
            &json!({"release":b64(b64(gzip(json!({"config":{field(p):p.secret}}).to_string().as_bytes())))}),
        )
    }),
    at("Secret, JSON", |p| {
        line(
            &json!({"apiVersion":"v1","data":{"x":b64(p.secret)},"kind":"Secret","metadata":{"name":"a"}}),
        )
    }),
    at("Secret, YAML data first", |p| {
        yaml(format!(
            "apiVersion: v1\ndata:\n  x: {}\nkind: Secret\nmetadata:\n  name: a\n",
            b64(p.secret)
        ))
    }),
    at("Secret, YAML kind first", |p| {
        yaml(format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  x: {}\n",
            b64(p.secret)
        ))
    }),
    at("Secret, YAML stringData", |p| {
        yaml(format!(
            "kind: Secret\nstringData:\n  x: \"{}\"\n---\nkind: ConfigMap\ndata:\n  mode: fast\n",
            p.secret
        ))
    }),
    at("Secret, JSON in a string", |p| {
        line(&json!({"message":json!({"kind":"Secret","data":{"x":b64(p.secret)}}).to_string()}))
    }),
];
