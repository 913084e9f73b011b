//! The configuration file: the long options of the command line, as TOML. It is read into a command line, so that both
//! have one meaning and one check; what is typed wins.

use std::ffi::OsString;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};

use crate::cli::{Cli, UsageError};

/// Options that have no place in a file.
const NOT_IN_FILES: [&str; 3] = ["config", "help", "version"];

/// The command line, with the options of `--config` put into it where they were not typed. Ends the program where the
/// command line itself is wrong.
///
/// # Errors
/// Names the file, and the option that is unknown or has a value of the wrong kind.
pub fn parse(args: Vec<OsString>) -> Result<Cli, UsageError> {
    let matches = Cli::command().get_matches_from(&args);
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let Some(file) = cli.options().and_then(|options| options.config.as_deref()) else {
        return Ok(cli);
    };
    let (at, typed) = match matches.subcommand() {
        // A subcommand is always the first argument.
        Some((_, matches)) => (2, matches),
        None => (1, &matches),
    };
    let more = read(file, typed)?;
    let (head, tail) = args.split_at(at.min(args.len()));
    let all = [head, &more, tail].concat();
    Cli::try_parse_from_args(all)
        .map_err(|error| UsageError::new(format!("--config {}: {error}", file.display())))
}

fn read(file: &Path, typed: &ArgMatches) -> Result<Vec<OsString>, UsageError> {
    let wrong = |why: String| UsageError::new(format!("--config {}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    let mut args = Vec::new();
    for (key, value) in &table {
        if !known().contains(key) {
            return Err(wrong(format!(
                "there is no option {key:?}; there are {}",
                known().join(", ")
            )));
        }
        let id = key.replace('-', "_");
        if typed.value_source(&id) == Some(ValueSource::CommandLine) {
            continue;
        }
        match value {
            toml::Value::Boolean(true) => args.push(format!("--{key}").into()),
            toml::Value::Boolean(false) => {}
            other => {
                let text = text_of(other).ok_or_else(|| {
                    wrong(format!(
                        "{key}: a text, a number or a list of texts is wanted"
                    ))
                })?;
                args.push(format!("--{key}={text}").into());
            }
        }
    }
    Ok(args)
}

fn text_of(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Array(items) => {
            let texts: Option<Vec<String>> = items.iter().map(text_of).collect();
            Some(texts?.join(","))
        }
        _ => None,
    }
}

/// The long options of `collect`.
fn known() -> Vec<String> {
    let command = Cli::command();
    let options = command
        .get_arguments()
        .filter(|option| !option.is_hide_set())
        .filter_map(|option| option.get_long())
        .filter(|name| !NOT_IN_FILES.contains(name));
    let mut names: Vec<String> = options.map(str::to_owned).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn parsed(text: &str, typed: &[&str]) -> Result<Cli, String> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("casefile.toml");
        std::fs::write(&file, text).unwrap();
        let mut args: Vec<OsString> = vec!["casefile-collector".into()];
        args.extend(typed.iter().map(OsString::from));
        args.extend(["--config".into(), file.clone().into()]);
        let shown = file.display().to_string();
        parse(args).map_err(|error| error.to_string().replace(&shown, "FILE"))
    }

    #[test]
    fn a_file_gives_options_and_what_is_typed_wins() {
        let text = "since = \"2h\"\nskip = [\"journal\", \"firewall\"]\ntimeout = 90\n";
        let cli = parsed(text, &[]).unwrap();
        let options = cli.options().unwrap();
        assert_eq!(options.since, Some(Duration::from_secs(7200)));
        assert_eq!(options.timeout, Duration::from_secs(90));
        assert_eq!(options.skip, ["journal", "firewall"]);
        let cli = parsed(text, &["plan", "--since", "1h", "--skip", "host_info"]).unwrap();
        let options = cli.options().unwrap();
        assert_eq!(options.since, Some(Duration::from_secs(3600)));
        assert_eq!(options.skip, ["host_info"]);
    }

    #[test]
    fn what_is_wrong_in_a_file_is_named() {
        for (text, said) in [
            (
                "sinse = 1\n",
                "FILE: there is no option \"sinse\"; there are ",
            ),
            (
                "since = \"yesterday\"\n",
                "FILE: error: invalid value 'yesterday'",
            ),
            ("since = {}\n", "FILE: since: a text"),
            ("since = \n", "FILE: TOML parse error"),
        ] {
            let error = parsed(text, &[]).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
