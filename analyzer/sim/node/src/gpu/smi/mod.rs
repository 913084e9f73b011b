//! The output of `nvidia-smi`: `-q -x`, `-q`, the table, `-L`, and `--query-gpu` without a header.
//!
//! Source of the labels: recorded output of drivers 418 to 610, and NVIDIA's notes on what 610 renamed
//! (<https://docs.nvidia.com/deploy/nvidia-smi/index.html>).

mod card;
mod clients;
mod list;
#[cfg(test)]
mod states_tests;
mod table;
#[cfg(test)]
mod tests;
mod tree;
mod values;

pub use card::Card;
pub use clients::{Client, Slice};

/// What one output says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Version of user space; before driver 610 the label did not tell it from the kernel module's.
    pub driver: Option<String>,
    /// Version of the kernel module, where it is labelled as such (driver 610 and later).
    pub module: Option<String>,
    /// Newest CUDA version that the driver offers.
    pub cuda: Option<String>,
    /// Line of the versions, from 1.
    pub line: u32,
    /// Number of GPUs as stated; none if it is not stated.
    pub attached: Option<u64>,
    /// The GPUs, each with the line where it begins.
    pub cards: Vec<(u32, Card)>,
}

/// The form of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `nvidia-smi -q -x`.
    Xml,
    /// `nvidia-smi -q`.
    Query,
    /// `nvidia-smi`.
    Table,
    /// `nvidia-smi -L`.
    List,
    /// `nvidia-smi --query-gpu=... --format=csv,noheader`.
    Csv,
}

/// Tells the form by content; none if it is no output of `nvidia-smi`.
pub fn form(text: &str) -> Option<Form> {
    let has = |word: &str| text.contains(word);
    if has("<nvidia_smi_log") {
        Some(Form::Xml)
    } else if has("NVSMI LOG") || (has("Attached GPUs") && has("Product Name")) {
        Some(Form::Query)
    } else if has("NVIDIA-SMI ") && (has("Driver Version:") || has("KMD Version:")) {
        Some(Form::Table)
    } else if list::is_list(text) {
        Some(Form::List)
    } else if list::is_csv(text) {
        Some(Form::Csv)
    } else {
        None
    }
}

/// Reads an output in whichever form it is.
///
/// # Errors
/// Says what does not parse, with its line.
pub fn read(text: &str) -> Result<Report, (u32, String)> {
    match form(text) {
        Some(Form::Xml) => tree::from_xml(text).map(|tree| card::report(&tree)),
        Some(Form::Query) => Ok(card::report(&tree::from_text(text))),
        Some(Form::Table) => Ok(table::report(text)),
        Some(Form::List) => Ok(list::from_list(text)),
        Some(Form::Csv) => Ok(list::from_csv(text)),
        None => Err((1, "is no output of nvidia-smi".into())),
    }
}

/// Versions and GPUs of the table or a list; fewer values than `-q` has.
pub fn is_short(form: Form) -> bool {
    !matches!(form, Form::Xml | Form::Query)
}
