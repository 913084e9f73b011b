//! Stub until the report lands.
use crate::model::Analysis;
use std::path::{Path, PathBuf};
#[derive(Debug, Clone, Copy)]
pub enum Format { Markdown, Html, Json }
pub fn check_output_dir(_d: &Path) -> anyhow::Result<()> { Ok(()) }
pub fn write_reports(a: &Analysis, d: &Path, _f: &[Format]) -> anyhow::Result<Vec<PathBuf>> { let p = d.join("report.json"); std::fs::create_dir_all(d)?; std::fs::write(&p, render_json(a)?)?; Ok(vec![p]) }
pub fn headline(a: &Analysis) -> String { a.incidents.first().map_or("none".into(), |i| i.title.clone()) }
pub fn render_text(a: &Analysis) -> anyhow::Result<String> { render_json(a) }
pub fn render_json(a: &Analysis) -> anyhow::Result<String> { Ok(serde_json::to_string_pretty(a)?) }
