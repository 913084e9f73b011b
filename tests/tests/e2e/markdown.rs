//! Markdown through the reference renderer of GitHub's flavour: the structure that readers get.

use std::process::Command;

use casefile_tests::bins;

use crate::samples::samples;
use crate::support::{run, skip};

/// The reference renderer's document tree, or `None` with a line that says why there is none.
fn tree(test: &str, file: &std::path::Path) -> Option<String> {
    let output = Command::new("cmark-gfm")
        .args([
            "-e",
            "table",
            "-e",
            "strikethrough",
            "-e",
            "autolink",
            "-t",
            "xml",
        ])
        .arg(file)
        .output();
    match output {
        Ok(output) => Some(String::from_utf8(output.stdout).unwrap()),
        Err(_) => {
            skip(test, "cmark-gfm is not installed");
            None
        }
    }
}

#[test]
fn the_reference_renderer_finds_the_structure_that_was_meant() {
    let test = "the_reference_renderer_finds_the_structure_that_was_meant";
    for sample in samples() {
        let out = tempfile::tempdir().unwrap();
        let folder = out.path().to_str().unwrap();
        let bundle = sample.join("bundle");
        let ended = run(
            bins::ANALYZER,
            &[
                "report",
                bundle.to_str().unwrap(),
                "-o",
                folder,
                "--format",
                "md",
            ],
        );
        assert_eq!(ended.code, 0, "{ended:?}");
        let file = out.path().join("report.md");
        let source = std::fs::read_to_string(&file).unwrap();
        let Some(tree) = tree(test, &file) else {
            return;
        };
        let options = roxmltree::ParsingOptions {
            allow_dtd: true,
            ..Default::default()
        };
        let tree = roxmltree::Document::parse_with_options(&tree, options).unwrap();
        let count = |name: &str| {
            tree.descendants()
                .filter(|node| node.tag_name().name() == name)
                .count()
        };
        let sections = tree.descendants().filter(|node| {
            node.tag_name().name() == "heading" && node.attribute("level") == Some("2")
        });
        let written = source
            .lines()
            .filter(|line| line.starts_with("## "))
            .count();
        assert_eq!(sections.count(), written, "{}", sample.display());
        assert_eq!(
            count("html_block") + count("html_inline"),
            0,
            "HTML that a tracker would strip"
        );
        assert_eq!(count("image") + count("strikethrough"), 0);
        let fences = source
            .lines()
            .filter(|line| line.trim_start().starts_with("```"))
            .count();
        assert_eq!(
            count("code_block") * 2,
            fences,
            "every fence is a block of its own"
        );
        let heads = source
            .lines()
            .filter(|line| line.starts_with("| --- "))
            .count();
        assert_eq!(count("table"), heads);
        for table in tree
            .descendants()
            .filter(|node| node.tag_name().name() == "table")
        {
            let rows = table.children().filter(roxmltree::Node::is_element);
            let widths: Vec<usize> = rows
                .map(|row| row.children().filter(roxmltree::Node::is_element).count())
                .collect();
            assert!(widths.iter().all(|width| *width == widths[0]), "{widths:?}");
        }
        let links = tree
            .descendants()
            .filter_map(|node| node.attribute("destination"));
        assert!(
            links.into_iter().all(|to| to.starts_with("https://")),
            "{}",
            sample.display()
        );
    }
}
