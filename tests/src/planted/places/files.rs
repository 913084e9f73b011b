//! Places in configuration files: YAML, TOML, INI, environments, units.

use super::{Place, at, at_but, camel, conf, field, flag, toml, yaml};

pub(super) const PLACES: &[Place] = &[
    at("YAML plain", |p| {
        yaml(format!("db:\n  {}: {}\n  port: 5432\n", camel(p), p.secret))
    }),
    at("YAML double-quoted", |p| {
        yaml(format!(
            "- {}: \"{}\"  # rotate\n  port: 1\n",
            field(p),
            p.secret
        ))
    }),
    at_but("YAML single-quoted", "'", |p| {
        yaml(format!("a:\n  {}: '{}'\n", field(p), p.secret))
    }),
    at("YAML literal block", |p| {
        yaml(format!(
            "a:\n  {}: |\n    {}\n  port: 1\n",
            field(p),
            p.secret
        ))
    }),
    at("YAML folded block", |p| {
        yaml(format!("{}: >-\n  {}\nport: 1\n", field(p), p.secret))
    }),
    at("YAML value on the next line", |p| {
        yaml(format!(
            "a:\n  {}:\n    {}\n  port: 1\n",
            field(p),
            p.secret
        ))
    }),
    at("YAML quoted value on the next line", |p| {
        yaml(format!("{}:\n  \"{}\"\nport: 1\n", field(p), p.secret))
    }),
    at("YAML plain over two lines", |p| {
        yaml(format!("{}: begin1X\n  {}\nport: 1\n", field(p), p.secret))
    }),
    at("YAML quoted over two lines", |p| {
        yaml(format!(
            "a:\n  {}: \"begin1X\n    {}\"\n  port: 1\n",
            field(p),
            p.secret
        ))
    }),
    at("YAML flow map", |p| {
        yaml(format!(
            "db: {{user: me, {}: \"{}\", port: 1}}\n",
            camel(p),
            p.secret
        ))
    }),
    at("YAML list", |p| {
        yaml(format!(
            "{}s:\n  - \"{}\"\nport: 1\n",
            field(p).trim_end_matches('s'),
            p.secret
        ))
    }),
    at("YAML env list", |p| {
        yaml(format!(
            "env:\n- name: {}\n  value: \"{}\"\n- name: MODE\n  value: fast\n",
            p.key, p.secret
        ))
    }),
    at("YAML env list, value first", |p| {
        yaml(format!(
            "env:\n- value: \"{}\"\n  name: {}\n- name: MODE\n  value: fast\n",
            p.secret, p.key
        ))
    }),
    at("YAML args list", |p| {
        yaml(format!(
            "args:\n- --{}\n- \"{}\"\n- --v=2\n",
            flag(p),
            p.secret
        ))
    }),
    at("YAML anchor and tag", |p| {
        yaml(format!(
            "a:\n  {}: &it !!str \"{}\"\nb: *it\n",
            field(p),
            p.secret
        ))
    }),
    at("YAML comment", |p| {
        yaml(format!("a: 1\n# {}: {}\nb: 2\n", field(p), p.secret))
    }),
    at("TOML basic string", |p| {
        toml(format!(
            "version = 2\n[a.b]\n  {} = \"{}\"\n",
            field(p),
            p.secret
        ))
    }),
    at_but("TOML literal string", "'", |p| {
        toml(format!(
            "[a]\n{} = '{}' # note\nx = 1\n",
            field(p),
            p.secret
        ))
    }),
    at("TOML multi-line string", |p| {
        toml(format!(
            "{} = \"\"\"\n{}\n\"\"\"\nx = 1\n",
            field(p),
            p.secret
        ))
    }),
    at("TOML inline table", |p| {
        toml(format!(
            "auth = {{ username = \"me\", {} = \"{}\" }}\nx = 1\n",
            field(p),
            p.secret
        ))
    }),
    at("TOML header array", |p| {
        toml(format!(
            "[host.\"https://r.example\".header]\n  X-{} = [\"{}\"]\n",
            flag(p),
            p.secret
        ))
    }),
    at("INI", |p| {
        conf(
            "my.cnf",
            format!("[client]\nuser=me\n{}={}\nhost=db\n", field(p), p.secret),
        )
    }),
    at("Java properties", |p| {
        conf(
            "app.properties",
            format!(
                "app.{}={}\napp.mode=fast\n",
                field(p).replace('_', "."),
                p.secret
            ),
        )
    }),
    at("env file", |p| {
        conf("kubelet.env", format!("A=1\n{}={}\nB=2\n", p.key, p.secret))
    }),
    at("env file, quoted", |p| {
        conf(
            "kubelet.env",
            format!("A=1\n{}=\"{}\"\nB=2\n", p.key, p.secret),
        )
    }),
    at("shell export", |p| {
        conf("profile.sh", format!("export {}='{}'\n", p.key, p.secret))
    }),
    at("unit Environment", |p| {
        conf(
            "a.service",
            format!(
                "[Service]\nEnvironment=\"{}={}\"\nExecStart=/usr/bin/a\n",
                p.key, p.secret
            ),
        )
    }),
    at("unit Environment, several", |p| {
        conf(
            "a.service",
            format!(
                "[Service]\nEnvironment=A=1 {}={} B=2\nExecStart=/usr/bin/a\n",
                p.key, p.secret
            ),
        )
    }),
    at("unit ExecStart", |p| {
        conf(
            "a.service",
            format!(
                "[Service]\nExecStart=/usr/bin/a --{}={} --v=2\n",
                flag(p),
                p.secret
            ),
        )
    }),
    at("unit ExecStart over lines", |p| {
        conf(
            "a.service",
            format!(
                "[Service]\nExecStart=/usr/bin/a \\\n  --{} \\\n  {} \\\n  --v=2\n",
                flag(p),
                p.secret
            ),
        )
    }),
];
