//! `serve` and `shell`: the captured cluster answers kubectl again.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use bytes::Bytes;
use casefile_bundle::Keys;
use casefile_serve::{Credentials, Running, Server, Store, kubeconfig};

use super::analysis::units;
use super::input::{Readable, analyze_unit, readable};
use super::{Exit, Terminal, analyzer};
use crate::cli::{AsOf, KeyArgs, RuleArgs, ServeArgs, ShellArgs};
use crate::fix;
use crate::recording;
use crate::report;
use crate::words::count;

/// The user of every kubeconfig that is written here, by which one is known again.
const OWN_MARK: &str = "\"name\": \"casefile\"";

/// What is served, and what has to stay where it is while it is.
struct Site {
    contexts: Vec<(String, Arc<Store>)>,
    units: Vec<(String, Readable)>,
}

pub(super) fn serve(
    args: &ServeArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    // The address first: where it cannot be had, nothing needs to be read.
    let server = Server::bind(args.listen)?;
    if !args.listen.ip().is_loopback() {
        writeln!(
            errors,
            "warning: {} can be reached from other machines; whoever has the kubeconfig reads the whole capture",
            server.credentials().address
        )?;
    }
    let site = read(&args.inputs, args.join, args.now, &args.keys, errors)?;
    let folder = tempfile::tempdir().context("making a folder for the kubeconfig")?;
    let path = match &args.kubeconfig {
        Some(path) => path.clone(),
        None => folder.path().join("kubeconfig"),
    };
    write_kubeconfig(&path, server.credentials(), &site.contexts)?;
    describe(&site, server.credentials().address, out)?;
    writeln!(
        out,
        "\n  export KUBECONFIG={}\n\nCtrl-C ends it.",
        path.display()
    )?;
    let running = if args.ui {
        let reports = reports(&site, &args.keys, errors)?;
        writeln!(
            out,
            "\nIn the browser, which warns of the run's own certificate once:\n  {}",
            server.page_address()
        )?;
        out.flush()?;
        server.start_with_page(site.contexts, reports)?
    } else {
        out.flush()?;
        server.start(site.contexts)?
    };
    running.until_asked_to_end();
    drop(running);
    if args.kubeconfig.is_some() {
        // The token and the certificate are of no use any more.
        let _ = std::fs::remove_file(&path);
    }
    Ok(Exit::Done)
}

pub(super) fn shell(args: &ShellArgs, errors: &mut dyn Write) -> anyhow::Result<Exit> {
    let server = Server::bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    let site = read(&args.inputs, args.join, args.now, &args.keys, errors)?;
    let folder = tempfile::tempdir().context("making a folder for the kubeconfig")?;
    let path = folder.path().join("kubeconfig");
    write_kubeconfig(&path, server.credentials(), &site.contexts)?;
    describe(&site, server.credentials().address, errors)?;
    writeln!(
        errors,
        "kubectl in this shell talks to the capture; `exit` ends it."
    )?;
    let _running: Running = server.start(site.contexts)?;
    let program = std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let ended = std::process::Command::new(&program)
        .env("KUBECONFIG", &path)
        .env("KUBECACHEDIR", folder.path().join("cache"))
        .status();
    ended.with_context(|| format!("starting the shell {}", Path::new(&program).display()))?;
    Ok(Exit::Done)
}

fn read(
    inputs: &[PathBuf],
    join: bool,
    now: Option<AsOf>,
    keys: &KeyArgs,
    errors: &mut dyn Write,
) -> anyhow::Result<Site> {
    let keys = Keys::load(&keys.identity)?;
    let now = now.map(|now| match now {
        AsOf::Moment(moment) => moment,
        AsOf::Today => chrono::DateTime::from(std::time::SystemTime::now()),
    });
    let mut site = Site {
        contexts: Vec::new(),
        units: Vec::new(),
    };
    let mut names = BTreeSet::new();
    for unit in units(inputs, join, keys.as_ref(), errors)? {
        let readable = readable(&unit)?;
        let recording = recording::read(&readable.unit, keys.as_ref(), now)?;
        for note in &recording.notes {
            writeln!(errors, "note: {note}")?;
        }
        if recording.store.is_empty() {
            bail!(
                "{} holds no Kubernetes object, log or file of a node; `casefile-analyzer ls` lists what it holds",
                unit.input().display()
            );
        }
        let name = free_name(unit.name(), &mut names);
        site.contexts.push((name.clone(), recording.store));
        site.units.push((name, readable));
    }
    Ok(site)
}

/// The report of each context as the page shows it. Where there is none, the page has no link to it.
fn reports(
    site: &Site,
    keys: &KeyArgs,
    errors: &mut dyn Write,
) -> anyhow::Result<BTreeMap<String, Bytes>> {
    let (analyzer, _) = analyzer(
        (&RuleArgs { rules: None }, None),
        Keys::load(&keys.identity)?,
        errors,
    )?;
    let mut reports = BTreeMap::new();
    for (name, readable) in &site.units {
        let analysis = analyze_unit(
            &fix::shown::analyze,
            &analyzer,
            &readable.unit,
            Terminal::default(),
        );
        let made = analysis.and_then(|analysis| {
            let folder = tempfile::tempdir()?;
            let options = report::Options::default();
            let formats = [report::Format::Html];
            report::write_reports(&analysis, folder.path(), &formats, "report", &options)?;
            Ok(std::fs::read(folder.path().join("report.html"))?)
        });
        match made {
            Ok(html) => {
                reports.insert(name.clone(), Bytes::from(html));
            }
            Err(why) => writeln!(errors, "note: {name} has no report: {why}")?,
        }
    }
    Ok(reports)
}

/// A context's name that no other has.
fn free_name(wanted: String, taken: &mut BTreeSet<String>) -> String {
    let mut name = wanted.clone();
    let mut number = 2;
    while !taken.insert(name.clone()) {
        name = format!("{wanted}-{number}");
        number += 1;
    }
    name
}

fn describe(site: &Site, address: SocketAddr, out: &mut dyn Write) -> anyhow::Result<()> {
    for (name, store) in &site.contexts {
        writeln!(
            out,
            "{name}: {} ({}) on https://{address}",
            store.title(),
            count(store.objects() as u64, "object")
        )?;
    }
    Ok(())
}

/// Writes the kubeconfig for its owner alone. A file of somebody else's is left alone.
fn write_kubeconfig(
    path: &Path,
    credentials: &Credentials,
    contexts: &[(String, Arc<Store>)],
) -> anyhow::Result<()> {
    if let Ok(known) = std::fs::read_to_string(path)
        && !known.is_empty()
        && !known.contains(OWN_MARK)
    {
        bail!(
            "{} exists and is no kubeconfig of `serve`; name a file that does not exist",
            path.display()
        );
    }
    let names: Vec<String> = contexts.iter().map(|(name, _)| name.clone()).collect();
    let text = kubeconfig(credentials, &names);
    let written = private_file(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("writing the kubeconfig {}", path.display()))
}

#[cfg(unix)]
fn private_file(path: &Path) -> std::io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    let _ = std::fs::remove_file(path);
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

#[cfg(not(unix))]
fn private_file(path: &Path) -> std::io::Result<std::fs::File> {
    std::fs::File::create(path)
}
