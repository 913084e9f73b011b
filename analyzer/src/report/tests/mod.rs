//! Reports as readers get them: whole, the same twice, and harmless whatever the bundle holds.

use std::collections::BTreeSet;

use super::*;
use crate::model::{Analysis, Evidence, Role, Verdict};
use crate::report::example;

mod formats;
mod hostile;
mod rewrite;
mod writing;

fn all() -> [Analysis; 2] {
    [example::model_incident(), example::nothing_found()]
}

#[test]
fn model_incident_reads_as_reviewed() {
    let analysis = example::model_incident();
    insta::assert_snapshot!("model_markdown", render_markdown(&analysis).unwrap());
    insta::assert_snapshot!("model_json", render_json(&analysis).unwrap());
    insta::assert_snapshot!("model_text", render_text(&analysis, TextOptions::default()));
}

#[test]
fn a_report_without_a_cause_reads_as_reviewed() {
    let analysis = example::nothing_found();
    insta::assert_snapshot!("nothing_markdown", render_markdown(&analysis).unwrap());
    insta::assert_snapshot!("nothing_json", render_json(&analysis).unwrap());
    insta::assert_snapshot!(
        "nothing_text",
        render_text(&analysis, TextOptions::default())
    );
}

#[test]
fn every_section_of_the_post_mortem_is_there_whatever_was_found() {
    // What a cause brings is there with every cause.
    const OF_A_CAUSE: [&str; 6] = [
        "root-cause",
        "resolution",
        "verification",
        "prevention",
        "if-you-see-this-again",
        "mitigation",
    ];
    let mut seen = BTreeSet::new();
    for analysis in all() {
        let markdown = [
            render_markdown(&analysis).unwrap(),
            render_appendix(&analysis, None).unwrap().unwrap(),
        ]
        .concat();
        let html = render_html(&analysis).unwrap();
        for section in SECTIONS {
            let heading = format!("\n## {}\n", section.title);
            let Some((_, after)) = markdown.split_once(&heading) else {
                let expected = OF_A_CAUSE.contains(&section.id) && !analysis.incidents.is_empty();
                assert!(!expected, "no {heading}");
                continue;
            };
            seen.insert(section.id);
            assert!(
                !after.trim_start().starts_with("## "),
                "{} is empty",
                section.title
            );
            assert!(html.contains(&format!("<h2 id=\"{}\">{}</h2>", section.id, section.title)));
        }
        for part in [
            "What Happened",
            "Observations",
            "Initial Response",
            "Immediate Actions",
        ] {
            assert!(markdown.contains(&format!("\n### {part}\n")), "no {part}");
        }
    }
    for section in SECTIONS {
        assert!(
            seen.contains(section.id),
            "{} has nothing to say in either example: fill what it shows into report/example/",
            section.id
        );
    }
}

#[test]
fn the_same_analysis_gives_the_same_bytes() {
    for analysis in all() {
        for format in Format::ALL {
            let first = render(&analysis, format, &Options::default()).unwrap();
            assert_eq!(
                first,
                render(&analysis, format, &Options::default()).unwrap()
            );
        }
    }
}

#[test]
fn every_line_of_evidence_is_printed_with_its_place() {
    let analysis = example::model_incident();
    let markdown = render_markdown(&analysis).unwrap();
    let html = render_html(&analysis).unwrap();
    for line in analysis
        .incidents
        .iter()
        .flat_map(|incident| &incident.evidence)
    {
        assert!(
            markdown.contains(&format!("`{}`", line.place)),
            "{}",
            line.place
        );
        assert!(markdown.contains(&line.text), "{}", line.text);
        assert!(
            html.contains(&format!(">{}<", line.place)),
            "{}",
            line.place
        );
        assert!(
            html.contains(&super::escape::html(&line.text)),
            "{}",
            line.text
        );
    }
}

#[test]
fn without_a_cause_the_report_says_so_and_claims_no_health() {
    let analysis = example::nothing_found();
    let markdown = render_markdown(&analysis).unwrap();
    let text = render_text(&analysis, TextOptions::default());
    for report in [&markdown, &text] {
        assert!(report.contains("for nothing was seen to fail"), "{report}");
        assert!(report.contains("does not mean that all is well"));
    }
    assert!(
        markdown.contains("ufw: not found"),
        "what was not seen is named"
    );
    assert!(
        markdown.contains("so there may be some"),
        "an incomplete input proves nothing"
    );
}

#[test]
fn a_cause_that_is_only_likely_is_never_called_confirmed_in_the_title() {
    let mut analysis = example::model_incident();
    analysis.incidents.remove(0);
    let markdown = render_markdown(&analysis).unwrap();
    assert!(markdown.starts_with("# Likely: "));
    assert!(markdown.contains("not ruled out"));
    analysis.incidents[0].verdict = Verdict::Possible;
    assert!(
        render_markdown(&analysis)
            .unwrap()
            .starts_with("# shop/web-6d4f8-x2x4z is failing")
    );
}

#[test]
fn a_cut_input_is_named_on_the_first_screen() {
    let mut analysis = example::model_incident();
    analysis.input.cut_short = true;
    let markdown = render_markdown(&analysis).unwrap();
    let (first_screen, _) = markdown.split_once("## Problem Statement").unwrap();
    assert!(first_screen.contains("was cut short"));
}

#[test]
fn json_holds_the_contract() {
    let json: serde_json::Value =
        serde_json::from_str(&render_json(&example::model_incident()).unwrap()).unwrap();
    assert_eq!(json["schema"], "casefile.report/1");
    assert_eq!(json["reference_time"], "2025-09-28T04:41:02Z");
    let first = &json["incidents"][0];
    assert_eq!(first["cause"]["id"], "toolkit-configures-wrong-containerd");
    assert_eq!(
        (&first["verdict"], &first["severity"]),
        (&"confirmed".into(), &"high".into())
    );
    assert_eq!(first["evidence"][0]["line"], 41);
    assert_eq!(first["evidence"][0]["role"], "for");
    assert!(
        first["symptoms"][0].is_string()
            && first["remedies"][0].is_string()
            && first["subjects"][0].is_string()
    );
    assert_eq!(json["differential"][3]["verdict"], "ruled-out");
    for list in ["benign", "timeline", "coverage", "problems"] {
        assert!(json[list].is_array(), "{list}");
    }
}

#[test]
fn the_terminal_answer_fits_a_screen() {
    for mut analysis in all() {
        analysis.coverage = analysis.coverage.iter().cycle().take(30).cloned().collect();
        assert!(
            render_text(&analysis, TextOptions::default())
                .lines()
                .count()
                <= 40
        );
    }
    let mut worst = example::model_incident();
    for found in &mut worst.incidents {
        let lines: Vec<_> = found.evidence.iter().cycle().take(50).cloned().collect();
        found.evidence = lines.clone();
        found
            .evidence
            .extend(lines.into_iter().map(|line| Evidence {
                role: Role::Against,
                ..line
            }));
        found.would_settle = vec!["x".to_owned(); 9];
        found.symptoms = found.symptoms.iter().cycle().take(9).cloned().collect();
    }
    worst.incidents = worst.incidents.iter().cycle().take(30).cloned().collect();
    worst.coverage = worst.coverage.iter().cycle().take(30).cloned().collect();
    let text = render_text(&worst, TextOptions::default());
    assert!(text.lines().count() <= 50, "{text}");
}

#[test]
fn long_lists_are_cut_and_say_how_much_is_left() {
    let mut analysis = example::model_incident();
    let line = analysis.incidents[0].evidence[0].clone();
    for number in 0..200 {
        let mut more = line.clone();
        more.place.line = Some(1000 + number);
        more.role = Role::For;
        analysis.incidents[0].evidence.push(more);
    }
    analysis.timeline = analysis
        .timeline
        .iter()
        .cycle()
        .take(5000)
        .cloned()
        .collect();
    let html = render_html(&analysis).unwrap();
    assert!(html.len() < 400_000, "{} bytes", html.len());
    assert!(html.contains("193 more, the first in"));
    assert!(html.contains("4940 more in report.json"));
}

#[test]
fn hundreds_of_causes_give_a_report_that_can_be_opened_and_says_what_it_left_out() {
    let mut analysis = example::model_incident();
    analysis.incidents = analysis
        .incidents
        .iter()
        .cycle()
        .take(500)
        .cloned()
        .collect();
    let html = render_html(&analysis).unwrap();
    assert!(html.len() < 600_000, "{} bytes", html.len());
    assert!(
        html.contains(
            "Besides these, 488 more possible causes are listed in the Differential only"
        )
    );
    let json: serde_json::Value = serde_json::from_str(&render_json(&analysis).unwrap()).unwrap();
    assert_eq!(json["incidents"].as_array().unwrap().len(), 500);
}
