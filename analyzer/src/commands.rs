//! What each command does; each writes to the given output and says how it ended.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use casefile_bundle::{Input, KeyError, Keys, Limits, OpenError};

use crate::cli::{
    CatArgs, Cli, Command, DiagnoseArgs, DiagnoseFormat, DiffArgs, FixArgs, KeyArgs, LsArgs,
    ReportArgs, ReportFormat, RuleArgs, RulesArgs, RulesCommand, TemplateArgs, TemplateCommand,
};
use crate::compare;
use crate::diagnose::{AnalyzeError, Analyzer};
use crate::fix;
use crate::join::{self, Unit};
use crate::model::Analysis;
use crate::progress::Progress;
use crate::report::{self, Format, own};
use crate::rules::{self, RuleError, RuleSet, docs, examples, scaffold, schema, show};

/// How a command ended; the numbers are the exit codes of the README.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Findings at or above `--fail-on`.
    Findings = 1,
    /// Wrong use.
    Usage = 2,
    /// Input unreadable or too new.
    Input = 3,
    /// Our own bug.
    Bug = 70,
}

/// Longest pasted text, in bytes.
const PASTE_LIMIT: u64 = 256 << 20;
/// Longest entry that `cat` prints, in bytes.
const CAT_LIMIT: usize = 1 << 30;

/// What stands at the other end of the outputs; only the program itself may look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terminal {
    /// Standard output shows colours.
    pub colour: bool,
    /// A person watches standard error.
    pub progress: bool,
}

/// Runs a command; messages for people go to `errors`.
pub fn run(
    cli: Cli,
    terminal: Terminal,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    match cli.command {
        Command::Report(args) => report(&args, terminal, out, errors),
        Command::Diagnose(args) => diagnose(&args, terminal, out, errors),
        Command::Fix(args) => fix_command(&args, out, errors),
        Command::Diff(args) => diff(&args, out, errors),
        Command::Ls(args) => ls(&args, out),
        Command::Cat(args) => cat(&args, out, errors),
        Command::Rules(args) => rules_command(&args, out, errors),
        Command::Template(args) => template(&args, out, errors),
        Command::Schema => {
            out.write_all(report::schema().as_bytes())?;
            Ok(Exit::Done)
        }
    }
}

/// The rules of the analyzer and those of `--rules`. A file that cannot be used is told, and the others
/// run; the exit is then that of wrong usage, so that a script does not take a part of the rules for all.
fn load(
    args: &RuleArgs,
    errors: &mut dyn Write,
) -> anyhow::Result<(RuleSet, Vec<RuleError>, Exit)> {
    let (set, faults) = rules::load(args.rules.as_deref())?;
    for fault in &faults {
        writeln!(
            errors,
            "warning: {fault}; this rule is left out, the others run"
        )?;
    }
    let exit = if faults.is_empty() {
        Exit::Done
    } else {
        Exit::Usage
    };
    Ok((set, faults, exit))
}

fn analyzer(
    args: &RuleArgs,
    keys: &KeyArgs,
    errors: &mut dyn Write,
) -> anyhow::Result<(Analyzer, Exit)> {
    let keys = Keys::load(&keys.identity)?;
    let (set, faults, exit) = load(args, errors)?;
    let analyzer = Analyzer::new(set)?.without(&faults);
    Ok((analyzer.opening_with(keys), exit))
}

fn report(
    args: &ReportArgs,
    terminal: Terminal,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let options = options(args)?;
    let units = units(&args.inputs, args.join, &args.keys, errors)?;
    let folders = folders(&units, &args.output)?;
    for folder in &folders {
        report::check_output_dir(folder)?;
    }
    let (analyzer, exit) = analyzer(&args.rules, &args.keys, errors)?;
    let formats: Vec<Format> = args
        .format
        .iter()
        .map(|format| match format {
            ReportFormat::Md => Format::Markdown,
            ReportFormat::Html => Format::Html,
            ReportFormat::Jira => Format::Jira,
            ReportFormat::Json => Format::Json,
        })
        .collect();
    for (unit, folder) in units.iter().zip(&folders) {
        let analysis = analyze_unit(&fix::shown::analyze, &analyzer, unit, terminal)?;
        let written = report::write_reports(&analysis, folder, &formats, "report", &options)?;
        writeln!(out, "{}", headline(&analysis))?;
        for file in written {
            writeln!(out, "wrote {}", file.display())?;
        }
        warn_problems(&analysis, errors)?;
    }
    Ok(exit)
}

/// How to print, from the files that the user names; they are read before the analysis.
fn options(args: &ReportArgs) -> anyhow::Result<report::Options> {
    let theme = args.theme.as_deref().map(|path| {
        let css = std::fs::read_to_string(path)
            .with_context(|| format!("theme {} cannot be read", path.display()))?;
        anyhow::Ok(report::Theme::new(&path.display().to_string(), &css)?)
    });
    Ok(report::Options {
        shell: args.template.as_deref().map(own_template).transpose()?,
        theme: theme.transpose()?,
        max_size: args.max_size,
    })
}

/// What is analysed as one; sentences about what stays apart go to `errors`.
fn units(
    inputs: &[PathBuf],
    anyway: bool,
    keys: &KeyArgs,
    errors: &mut dyn Write,
) -> anyhow::Result<Vec<Unit>> {
    let keys = Keys::load(&keys.identity)?;
    let grouped = join::group(inputs, anyway, keys.as_ref());
    for note in &grouped.notes {
        writeln!(errors, "note: {note}")?;
    }
    Ok(grouped.units)
}

/// The folder of each analysis: the output folder itself, or one below it for each of several.
fn folders(units: &[Unit], output: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if units.len() == 1 {
        return Ok(vec![output.to_owned()]);
    }
    let mut folders: Vec<PathBuf> = Vec::new();
    for unit in units {
        let folder = output.join(unit.name());
        if let Some(other) = folders.iter().position(|known| *known == folder) {
            bail!(
                "the reports of {} and {} would both be written to {}; rename one, or run twice with different -o",
                units[other].input().display(),
                unit.input().display(),
                folder.display()
            );
        }
        folders.push(folder);
    }
    Ok(folders)
}

/// The outcome in one line.
fn headline(analysis: &Analysis) -> String {
    match analysis.incidents.first() {
        Some(incident) => format!(
            "{}: {} ({})",
            incident.verdict.word(),
            incident.title,
            incident.cause
        ),
        None => {
            "no cause confirmed; the report says what was checked and what could not be seen".into()
        }
    }
}

fn warn_problems(analysis: &Analysis, errors: &mut dyn Write) -> std::io::Result<()> {
    const SHOWN: usize = 10;
    for problem in analysis.problems.iter().take(SHOWN) {
        if problem.place.path.is_empty() {
            writeln!(errors, "warning: {}", problem.text)?;
        } else {
            writeln!(errors, "warning: {}: {}", problem.place, problem.text)?;
        }
    }
    if analysis.problems.len() > SHOWN {
        let more = analysis.problems.len() - SHOWN;
        writeln!(
            errors,
            "warning: {more} more problems; the report lists them"
        )?;
    }
    Ok(())
}

fn diagnose(
    args: &DiagnoseArgs,
    terminal: Terminal,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let document = matches!(args.format, DiagnoseFormat::Sarif | DiagnoseFormat::Junit);
    let units = units(&args.inputs, args.join, &args.keys, errors)?;
    if document && units.len() > 1 {
        bail!(
            "SARIF and JUnit are one document an input; run it once for each of the {} inputs",
            units.len()
        );
    }
    let (analyzer, mut exit) = analyzer(&args.rules, &args.keys, errors)?;
    for unit in &units {
        let analysis = analyze_unit(&Analyzer::analyze_unit, &analyzer, unit, terminal)?;
        match args.format {
            DiagnoseFormat::Text if terminal.colour => {
                write!(out, "{}", report::render_colour(&analysis))?;
            }
            DiagnoseFormat::Text => write!(out, "{}", report::render_text(&analysis))?,
            DiagnoseFormat::Json => write!(out, "{}", report::render_json(&analysis)?)?,
            DiagnoseFormat::Sarif => write!(out, "{}", report::render_sarif(&analysis)?)?,
            DiagnoseFormat::Junit => write!(out, "{}", report::render_junit(&analysis))?,
        }
        warn_problems(&analysis, errors)?;
        let reached = args.fail_on.is_some_and(|limit| {
            analysis
                .incidents
                .iter()
                .any(|incident| limit.reached_by(incident.verdict))
        });
        if reached {
            exit = Exit::Findings;
        }
    }
    Ok(exit)
}

fn fix_command(
    args: &FixArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let units = units(&args.inputs, args.join, &args.keys, errors)?;
    let folders = folders(&units, &args.output)?;
    for folder in &folders {
        report::check_output_dir(folder)?;
    }
    let (analyzer, exit) = analyzer(&args.rules, &args.keys, errors)?;
    for (unit, folder) in units.iter().zip(&folders) {
        let readable = readable(unit)?;
        fix::command::run(args, &analyzer, &readable.unit, folder, out)?;
    }
    Ok(exit)
}

fn diff(args: &DiffArgs, out: &mut dyn Write, errors: &mut dyn Write) -> anyhow::Result<Exit> {
    compare::command::check(args)?;
    let (analyzer, exit) = analyzer(&args.rules, &args.keys, errors)?;
    let inputs: Vec<PathBuf> = args
        .inputs
        .iter()
        .map(|input| unpacked_inside(input).unwrap_or_else(|| input.clone()))
        .collect();
    compare::command::run(&analyzer, args, &inputs, out)?;
    Ok(exit)
}

/// How one input becomes an analysis: with what its fixes would do, or without.
type Analyze = dyn Fn(&Analyzer, &Unit) -> Result<Analysis, AnalyzeError>;

fn analyze_unit(
    analyze: &Analyze,
    analyzer: &Analyzer,
    unit: &Unit,
    terminal: Terminal,
) -> anyhow::Result<Analysis> {
    let _progress = terminal.progress.then(|| Progress::start(unit.input()));
    let readable = readable(unit)?;
    let mut analysis = analyze(analyzer, &readable.unit)?;
    if let (Unit::Alone(input), Some(_)) = (unit, &readable.staged)
        && let Some(name) = input.file_name()
        && input.as_os_str() != "-"
    {
        analysis.input.name = name.to_string_lossy().into_owned();
    }
    Ok(analysis)
}

/// What the reader can open in the place of what was named.
struct Readable {
    unit: Unit,
    /// Holds a text for as long as it is read.
    staged: Option<tempfile::TempDir>,
}

/// A bundle or folder as it is; a folder around one unpacked bundle is that bundle; loose text, a text file or
/// standard input as `-`, is put into a folder.
fn readable(unit: &Unit) -> anyhow::Result<Readable> {
    let Unit::Alone(input) = unit else {
        return Ok(Readable {
            unit: unit.clone(),
            staged: None,
        });
    };
    let staged = if input.as_os_str() == "-" {
        let text = &mut std::io::stdin().lock();
        Some(staged("pasted.txt", text).context("reading standard input")?)
    } else if input.is_file() && is_text(input) {
        let mut file =
            std::fs::File::open(input).with_context(|| format!("opening {}", input.display()))?;
        let name = input.file_name().map(|name| name.to_string_lossy());
        let name = name.unwrap_or_else(|| "input.txt".into());
        Some(staged(&name, &mut file).with_context(|| format!("reading {}", input.display()))?)
    } else {
        None
    };
    let path = match &staged {
        Some(folder) => folder.path().to_owned(),
        None => unpacked_inside(input).unwrap_or_else(|| input.clone()),
    };
    Ok(Readable {
        unit: Unit::Alone(path),
        staged,
    })
}

/// The unpacked bundle in a folder that holds one and is none itself, as `tar xzf` leaves it.
fn unpacked_inside(folder: &Path) -> Option<PathBuf> {
    let is_bundle = |path: &Path| path.join(casefile_bundle::HEADER_PATH).is_file();
    if !folder.is_dir() || is_bundle(folder) {
        return None;
    }
    let children = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path());
    let mut bundles = children.filter(|path| is_bundle(path));
    let only = bundles.next()?;
    bundles.next().is_none().then_some(only)
}

/// Whether a file starts like text: no zero byte and no broken UTF-8 in its first block. A file that is
/// named like an archive was meant to be one, and is refused instead of being read as a log.
fn is_text(path: &Path) -> bool {
    let archive = ["tar", "gz", "tgz", "zip", "xz", "zst", "age"];
    if path
        .extension()
        .is_some_and(|ending| archive.iter().any(|known| ending == *known))
    {
        return false;
    }
    let mut head = Vec::new();
    let opened = std::fs::File::open(path).and_then(|file| file.take(4096).read_to_end(&mut head));
    let whole = |error: std::str::Utf8Error| error.error_len().is_none();
    opened.is_ok()
        && !head.is_empty()
        && !head.starts_with(b"-----BEGIN AGE")
        && !head.contains(&0)
        && std::str::from_utf8(&head).map_or_else(whole, |_| true)
}

/// Puts loose text into a folder of its own, where it is read like any file of a folder.
fn staged(name: &str, text: &mut dyn Read) -> std::io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let mut file = std::fs::File::create(folder.path().join(name))?;
    std::io::copy(&mut text.take(PASTE_LIMIT), &mut file)?;
    Ok(folder)
}

fn own_template(path: &Path) -> anyhow::Result<report::Shell> {
    if !path.exists()
        && let Some(shell) = path.to_str().and_then(own::shipped)
    {
        return Ok(shell);
    }
    let source = std::fs::read_to_string(path).with_context(|| {
        format!(
            "template {} cannot be read; `casefile-analyzer template list` names the shipped ones",
            path.display()
        )
    })?;
    let name = path.display().to_string();
    let format = if name.contains(".html") {
        Format::Html
    } else if name.contains(".jira") {
        Format::Jira
    } else {
        Format::Markdown
    };
    Ok(report::Shell {
        name,
        format,
        source,
    })
}

fn template(
    args: &TemplateArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    match &args.command {
        TemplateCommand::List => {
            for name in own::names() {
                writeln!(out, "{name}")?;
            }
            writeln!(out, "\nA template sees:")?;
            for (name, meaning) in own::VARIABLES {
                writeln!(out, "  {name}: {meaning}")?;
            }
            Ok(Exit::Done)
        }
        TemplateCommand::Show { name } => match own::source(name) {
            Some(source) => {
                out.write_all(source.as_bytes())?;
                Ok(Exit::Done)
            }
            None => {
                writeln!(
                    errors,
                    "error: no template {name:?}; `casefile-analyzer template list` lists them"
                )?;
                Ok(Exit::Usage)
            }
        },
        TemplateCommand::Check { file } => {
            let faults = own::check(&own_template(file)?);
            for fault in &faults {
                writeln!(out, "{fault}")?;
            }
            if faults.is_empty() {
                writeln!(out, "{}: nothing is wrong with it", file.display())?;
            }
            Ok(if faults.is_empty() {
                Exit::Done
            } else {
                Exit::Findings
            })
        }
    }
}

fn ls(args: &LsArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let keys = Keys::load(&args.keys.identity)?;
    let input = Input::new(&args.input, keys.as_ref());
    let (_, entries) = casefile_bundle::list(input, &Limits::default())?;
    for entry in entries {
        if entry.path.as_str().starts_with(&args.prefix) {
            let size = entry
                .size
                .map_or_else(|| "?".to_owned(), |size| size.to_string());
            writeln!(out, "{size:>12}  {}", entry.path)?;
        }
    }
    Ok(Exit::Done)
}

fn cat(args: &CatArgs, out: &mut dyn Write, errors: &mut dyn Write) -> anyhow::Result<Exit> {
    let keys = Keys::load(&args.keys.identity)?;
    let input = Input::new(&args.input, keys.as_ref());
    let read = |path: &str| casefile_bundle::read_entry(input, &Limits::default(), path, CAT_LIMIT);
    if let Some(bytes) = read(&args.path)? {
        out.write_all(&bytes)?;
        return Ok(Exit::Done);
    }
    // A path may itself hold a colon, so the plain path was tried first.
    if let Some((path, line)) = args.path.rsplit_once(':')
        && let Ok(line) = line.parse::<usize>()
        && let Some(bytes) = read(path)?
    {
        let Some(text) = bytes
            .split(|byte| *byte == b'\n')
            .nth(line.saturating_sub(1))
        else {
            bail!("{path} has fewer than {line} lines");
        };
        out.write_all(text)?;
        writeln!(out)?;
        return Ok(Exit::Done);
    }
    if let Some((node, rest)) = args.path.split_once(':')
        && casefile_bundle::list(input, &Limits::default())?
            .0
            .header
            .is_some_and(|header| header.node == node)
    {
        let rest = CatArgs {
            path: rest.to_owned(),
            ..args.clone()
        };
        return cat(&rest, out, errors);
    }
    writeln!(
        errors,
        "error: {} has no entry {}; `casefile-analyzer ls {}` lists them",
        args.input.display(),
        args.path,
        args.input.display()
    )?;
    Ok(Exit::Input)
}

fn rules_command(
    args: &RulesArgs,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    match &args.command {
        RulesCommand::List(rules) => {
            let (set, _, exit) = load(rules, errors)?;
            show::list(&set, out)?;
            Ok(exit)
        }
        RulesCommand::Show { id, rules } => {
            let (set, _, exit) = load(rules, errors)?;
            let Some(rule) = set.rules.iter().find(|rule| rule.file.id == *id) else {
                writeln!(errors, "error: there is no rule {id}{}", like(&set, id))?;
                return Ok(Exit::Usage);
            };
            show::page(&set, rule, &|id| format!("`{id}`"), out)?;
            Ok(exit)
        }
        RulesCommand::Test(rules) => test_rules(rules.rules.as_deref(), out, errors),
        RulesCommand::New { id, family, output } => {
            let path = scaffold::write(id, family, output)?;
            writeln!(out, "wrote {}", path.display())?;
            let folder = output.display();
            writeln!(
                out,
                "check it with: casefile-analyzer rules test --rules {folder}"
            )?;
            Ok(Exit::Done)
        }
        RulesCommand::Schema => {
            writeln!(out, "{}", serde_json::to_string_pretty(&schema::schema())?)?;
            Ok(Exit::Done)
        }
        RulesCommand::Docs { output, rules } => {
            let (set, _, exit) = load(rules, errors)?;
            let written = docs::write(&set, output)
                .with_context(|| format!("writing the reference to {}", output.display()))?;
            let index = output.join("README.md");
            writeln!(
                out,
                "wrote {} files; start at {}",
                written.len(),
                index.display()
            )?;
            Ok(exit)
        }
    }
}

/// Ids that share a word with one that does not exist.
fn like(set: &RuleSet, id: &str) -> String {
    const SHOWN: usize = 5;
    let words: Vec<&str> = id.split('-').filter(|word| word.len() > 2).collect();
    let mut near: Vec<(usize, &str)> = set
        .rules
        .iter()
        .map(|rule| rule.file.id.as_str())
        .map(|known| {
            (
                words.iter().filter(|word| known.contains(*word)).count(),
                known,
            )
        })
        .filter(|(shared, _)| *shared > 0)
        .collect();
    near.sort_by_key(|(shared, known)| (std::cmp::Reverse(*shared), *known));
    let names: Vec<&str> = near
        .into_iter()
        .take(SHOWN)
        .map(|(_, known)| known)
        .collect();
    if names.is_empty() {
        "; `casefile-analyzer rules list` lists them".to_owned()
    } else {
        format!("; did you mean {}?", names.join(", "))
    }
}

fn test_rules(
    folder: Option<&Path>,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let (set, faults) = rules::load(folder)?;
    for fault in &faults {
        writeln!(errors, "error: {fault}")?;
    }
    let outcome = examples::run(set)?;
    for failure in &outcome.failures {
        writeln!(out, "{failure}")?;
    }
    writeln!(
        out,
        "{} examples passed, {} failed",
        outcome.passed,
        outcome.failures.len()
    )?;
    let good = outcome.failures.is_empty() && faults.is_empty();
    Ok(if good { Exit::Done } else { Exit::Findings })
}

/// The exit code that an error stands for.
pub fn exit_of(error: &anyhow::Error) -> Exit {
    if error.is::<OpenError>() || error.is::<KeyError>() {
        return Exit::Input;
    }
    match error.downcast_ref::<AnalyzeError>() {
        Some(AnalyzeError::Open(_)) => Exit::Input,
        Some(_) => Exit::Bug,
        None => Exit::Usage,
    }
}
