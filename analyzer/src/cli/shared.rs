//! Arguments that several commands take.

use std::path::PathBuf;

use clap::Args;

/// Rules to use.
#[derive(Debug, Args)]
pub struct RuleArgs {
    /// Folder of further rules (YAML, also in folders below); a file with a known id replaces that rule.
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,
}

/// Keys of encrypted inputs.
#[derive(Debug, Clone, Args)]
pub struct KeyArgs {
    /// Key that opens an encrypted input, as `age-keygen` writes it.
    #[arg(short, long, value_name = "FILE")]
    pub identity: Vec<PathBuf>,
}

/// How much memory an analysis may take.
#[derive(Debug, Clone, Args)]
pub struct MemoryArgs {
    /// Memory for texts and objects that are kept of an input, beyond rules, buffers and lines that matched. What does
    /// not fit waits in a temporary file, or is left out and named.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "96MiB")]
    pub memory: usize,
}

/// Reads `32000`, `32KiB`, `1MiB` or `1GiB`.
pub(super) fn parse_size(text: &str) -> Result<usize, String> {
    let split = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => {
            return Err(format!("`{unit}` is no unit; write bytes, KiB, MiB or GiB"));
        }
    };
    let number: usize = digits
        .parse()
        .map_err(|_| "write a size such as 32KiB".to_owned())?;
    number
        .checked_mul(factor)
        .filter(|size| *size > 0)
        .ok_or_else(|| "the size must be more than 0 and fit into memory".to_owned())
}
