//! `serve`, `open` and `shell`: the captured cluster answers kubectl again, and shows itself in a browser.

mod browser;
mod desk;
mod linked;
mod proposed;

use std::collections::BTreeSet;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use casefile_bundle::Keys;
use casefile_serve::{Credentials, Desk, Running, Server, Store, kubeconfig};

use super::analysis::units;
use super::input::{Readable, readable};
use super::{Exit, analyzer};
use crate::cli::{AsOf, KeyArgs, OpenArgs, RuleArgs, ServeArgs, ShellArgs};
use crate::recording;
use crate::words::count;

/// The user of every kubeconfig that is written here, by which one is known again.
const OWN_MARK: &str = "\"name\": \"casefile\"";

/// What is served, and what has to stay where it is while it is.
struct Site {
    contexts: Vec<(String, Arc<Store>)>,
    units: Vec<Readable>,
}

impl Site {
    /// Errors: an input that kubectl can ask nothing of.
    fn must_hold_something(&self) -> anyhow::Result<()> {
        let mut both = self.contexts.iter().zip(&self.units);
        match both.find(|((_, store), _)| store.is_empty()) {
            Some((_, readable)) => bail!(
                "{} holds no Kubernetes object, log or file of a node; `casefile-analyzer ls` lists what it holds, and `open` shows it",
                readable.unit.input().display()
            ),
            None => Ok(()),
        }
    }
}

/// What becomes of the page's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Page {
    /// There is no page.
    None,
    /// It is printed.
    Printed,
    /// It is printed, and opened in the browser.
    Opened,
}

pub(super) fn serve(
    args: &ServeArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let page = if args.ui { Page::Printed } else { Page::None };
    run(args, page, out, errors)
}

pub(super) fn open(
    args: &OpenArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let page = if args.print {
        Page::Printed
    } else {
        Page::Opened
    };
    let serve = ServeArgs {
        inputs: args.inputs.clone(),
        join: args.join,
        listen: args.listen,
        kubeconfig: None,
        now: args.now,
        ui: true,
        keys: args.keys.clone(),
    };
    run(&serve, page, out, errors)
}

fn run(
    args: &ServeArgs,
    page: Page,
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
    // A page shows the report and the lines of what holds nothing for kubectl.
    if page == Page::None {
        site.must_hold_something()?;
    }
    let folder = tempfile::tempdir().context("making a folder for the kubeconfig")?;
    let path = match &args.kubeconfig {
        Some(path) => path.clone(),
        None => folder.path().join("kubeconfig"),
    };
    let written = write_kubeconfig(&path, server.credentials(), &site.contexts)?;
    describe(&site, server.credentials().address, out)?;
    writeln!(
        out,
        "\n  export KUBECONFIG={}\n\nCtrl-C ends it.",
        path.display()
    )?;
    let running = if page == Page::None {
        out.flush()?;
        server.start(site.contexts)?
    } else {
        let desks = desks(site.units, &args.keys, errors)?;
        let address = server.page_address();
        let running = server.start_with_page(site.contexts, desks)?;
        writeln!(
            out,
            "\nIn the browser, which warns of the run's own certificate once:\n  {address}"
        )?;
        out.flush()?;
        if page == Page::Opened
            && let Err(why) = browser::open(&address)
        {
            writeln!(errors, "note: {why}")?;
        }
        running
    };
    running.until_asked_to_end();
    drop(running);
    if args.kubeconfig.is_some() && std::fs::read_to_string(&path).is_ok_and(|now| now == written) {
        // The token and the certificate are of no use any more.
        let _ = std::fs::remove_file(&path);
    }
    Ok(Exit::Done)
}

pub(super) fn shell(args: &ShellArgs, errors: &mut dyn Write) -> anyhow::Result<Exit> {
    let server = Server::bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    let site = read(&args.inputs, args.join, args.now, &args.keys, errors)?;
    site.must_hold_something()?;
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
        let name = free_name(unit.name(), &mut names);
        site.contexts.push((name, recording.store));
        site.units.push(readable);
    }
    Ok(site)
}

/// What the page shows of each context beyond the API.
fn desks(
    units: Vec<Readable>,
    keys: &KeyArgs,
    errors: &mut dyn Write,
) -> anyhow::Result<Vec<Arc<dyn Desk>>> {
    let mut desks: Vec<Arc<dyn Desk>> = Vec::new();
    for readable in units {
        let opened = Keys::load(&keys.identity)?;
        let (analyzer, _) = analyzer((&RuleArgs { rules: None }, None), opened.clone(), errors)?;
        let capture = desk::Capture::new(readable, opened, keys.clone(), analyzer);
        desks.push(Arc::new(capture));
    }
    Ok(desks)
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

/// Writes the kubeconfig for its owner alone, and gives its text. A file of somebody else's is left alone.
fn write_kubeconfig(
    path: &Path,
    credentials: &Credentials,
    contexts: &[(String, Arc<Store>)],
) -> anyhow::Result<String> {
    let known = std::fs::read_to_string(path).unwrap_or_default();
    if !known.is_empty() && !known.contains(OWN_MARK) {
        bail!(
            "{} exists and is no kubeconfig of `serve`; name a file that does not exist",
            path.display()
        );
    }
    if is_in_use(&known) {
        bail!(
            "{} belongs to a `serve` that still runs; end that one, or name another file",
            path.display()
        );
    }
    let names: Vec<String> = contexts.iter().map(|(name, _)| name.clone()).collect();
    let text = kubeconfig(credentials, &names);
    let written = private_file(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("writing the kubeconfig {}", path.display()))?;
    Ok(text)
}

/// Whether something still answers at the address of a kubeconfig of ours.
fn is_in_use(kubeconfig: &str) -> bool {
    let own: serde_json::Value = serde_json::from_str(kubeconfig).unwrap_or_default();
    let server = own["clusters"][0]["cluster"]["server"].as_str();
    let address = server.and_then(|url| url.strip_prefix("https://")?.split('/').next());
    let address: Option<SocketAddr> = address.and_then(|text| text.parse().ok());
    let wait = std::time::Duration::from_secs(1);
    address.is_some_and(|address| std::net::TcpStream::connect_timeout(&address, wait).is_ok())
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
