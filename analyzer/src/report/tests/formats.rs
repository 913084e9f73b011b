//! Formats for trackers, pipelines and companies: wiki markup, sizes, themes, templates, SARIF, JUnit.

use super::*;
use crate::report::own;

fn jira(analysis: &Analysis, options: &Options) -> Result<String, RenderError> {
    render(analysis, Format::Jira, options)
}

#[test]
fn wiki_markup_has_every_section_and_every_line_of_evidence() {
    let analysis = example::model_incident();
    let text = jira(&analysis, &Options::default()).unwrap();
    assert!(text.starts_with("h1. GPU pods cannot start"));
    // Where HAMi has no part in a cause its section is folded.
    let folded = ["hami", "environment"];
    for section in SECTIONS
        .iter()
        .filter(|section| !folded.contains(&section.id))
    {
        let heading = format!("\nh2. {}\n", escape_jira::text(section.title));
        assert!(
            text.contains(&heading),
            "no {heading}: fill what it shows into report/example/, or name it above"
        );
    }
    for line in &analysis.incidents[0].evidence {
        assert!(text.contains(&format!(
            "{{{{{}}}}}",
            escape_jira::text(&line.place.to_string())
        )));
        assert!(text.contains(&line.text), "{}", line.text);
    }
}

#[test]
fn a_report_for_a_tracker_is_kept_below_its_limit_and_says_what_was_left_out() {
    let analysis = example::model_incident();
    let whole = render_markdown(&analysis).unwrap();
    for format in [Format::Markdown, Format::Jira] {
        let options = Options {
            max_size: Some(whole.len() * 2 / 3),
            ..Options::default()
        };
        let text = render(&analysis, format, &options).unwrap();
        assert!(text.len() <= whole.len() * 2 / 3);
        let (_, told) = text.split_once("these sections were left out: ").unwrap();
        assert!(told.lines().next().unwrap().contains("Appendix"));
        assert!(
            text.contains("Root Cause Analysis"),
            "the most important stays"
        );
    }
    let html = Options {
        max_size: Some(2000),
        ..Options::default()
    };
    assert!(
        render(&analysis, Format::Html, &html).is_ok(),
        "only trackers have limits"
    );
    let error = render(&analysis, Format::Markdown, &html).unwrap_err();
    assert!(error.to_string().contains("--max-size"), "{error}");
}

#[test]
fn of_an_atlassian_document_the_text_is_kept_below_the_limit() {
    let analysis = example::model_incident();
    let whole = render(&analysis, Format::Adf, &Options::default()).unwrap();
    let limit = crate::report::post::said(&whole) * 2 / 3;
    let options = Options {
        max_size: Some(limit),
        ..Options::default()
    };
    let text = render(&analysis, Format::Adf, &options).unwrap();
    assert!(crate::report::post::said(&text) <= limit);
    assert!(text.len() > limit, "the JSON around it does not count");
    assert!(text.contains("these sections were left out: "));
    assert!(text.contains("Root Cause Analysis"));
}

#[test]
fn a_long_section_is_shortened_before_the_most_important_go_and_short_ones_come_back() {
    let mut analysis = example::model_incident();
    let rows = analysis.incidents[0].tables[0].rows.clone();
    for _ in 0..12 {
        analysis.incidents[0].tables[0].rows.extend(rows.clone());
    }
    let size = |sections: &[&str]| {
        let text = render_markdown(&analysis).unwrap();
        let parts: Vec<&str> = text.split("\n## ").collect();
        let named = |part: &&&str| sections.iter().any(|title| part.starts_with(title));
        parts
            .iter()
            .filter(named)
            .map(|part| part.len())
            .sum::<usize>()
    };
    let limit = 4500
        + size(&[
            "Resolution Process",
            "Investigation Process",
            "Verification",
            "Differential",
        ]);
    let options = Options {
        max_size: Some(limit),
        ..Options::default()
    };
    let text = render(&analysis, Format::Markdown, &options).unwrap();
    assert!(text.len() <= limit);
    assert!(text.contains("\n## Root Cause Analysis\n"), "{text}");
    assert!(text.contains("of Resolution Process and Root Cause Analysis what is folded"));
    let titles: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    let order = SECTIONS.iter().map(|section| section.title);
    let kept: Vec<&str> = order.filter(|title| titles.contains(title)).collect();
    assert_eq!(titles, kept, "sections stand in their order");
    let whole = render_markdown(&analysis).unwrap();
    let shown = |title: &str| whole.contains(&format!("\n## {title}\n"));
    let dropped = SECTIONS
        .iter()
        .filter(|one| !titles.contains(&one.title) && shown(one.title));
    for section in dropped {
        let more = text.len() + size(&[section.title]) + "\n## ".len();
        assert!(more > limit, "{} fits beside the rest", section.title);
    }
}

#[test]
fn a_theme_sets_colours_and_may_load_nothing() {
    let theme = own::Theme::new("ours.css", ":root { --link: #123456; }\n").unwrap();
    let options = Options {
        theme: Some(theme),
        ..Options::default()
    };
    let html = render(&example::model_incident(), Format::Html, &options).unwrap();
    assert!(html.contains("--link: #123456;"));
    for bad in [
        "a {}\n</style><script>",
        "a {}\n@import 'x.css';",
        "a {}\nb { background: url(https://x.test/a.png); }",
    ] {
        let error = own::Theme::new("ours.css", bad).unwrap_err();
        assert!(error.to_string().starts_with("ours.css:2: "), "{error}");
    }
}

fn check(source: &str) -> Vec<String> {
    own::check(&Shell {
        name: "ours.md.j2".to_owned(),
        format: Format::Markdown,
        source: source.to_owned(),
    })
}

#[test]
fn checking_a_template_names_every_unknown_variable_with_its_line() {
    let faults = check("{{ title }}\n{{ nmae }}\n{% for s in section %}{{ s }}{% endfor %}\n");
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(
        faults
            .iter()
            .any(|fault| fault.starts_with("ours.md.j2:2: unknown variable `nmae`"))
    );
    assert!(
        faults
            .iter()
            .any(|fault| fault.starts_with("ours.md.j2:3: unknown variable `section`"))
    );
}

#[test]
fn checking_a_template_tries_it_too() {
    assert!(check("{{ title }} {{ report.incidents|length }}").is_empty());
    let broken = check("a\n{% for %}");
    assert!(broken[0].starts_with("ours.md.j2:2: "), "{broken:?}");
    let field = check("a\n{{ report.no_such_field }}");
    assert!(field[0].starts_with("ours.md.j2:2: "), "{field:?}");
    let endless =
        check("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}");
    assert!(endless[0].contains("works without end"), "{endless:?}");
    let text = "x".repeat(30_000);
    let huge = check(&format!(
        "a\n{{% for a in range(9999) %}}{text}{{% endfor %}}"
    ));
    assert!(
        huge[0].starts_with("ours.md.j2:2: ") && huge[0].contains("grows beyond 64.0 MiB"),
        "{huge:?}"
    );
}

#[test]
fn every_shipped_template_passes_its_own_check() {
    for name in own::names() {
        let shell = own::shipped(name).unwrap_or_else(|| Shell {
            name: name.to_owned(),
            format: match name {
                "report.html.j2" => Format::Html,
                "report.jira.j2" => Format::Jira,
                _ => Format::Markdown,
            },
            source: own::source(name).unwrap().to_owned(),
        });
        assert_eq!(own::check(&shell), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn the_gpu_troubleshooting_report_counts_what_was_collected() {
    let options = Options {
        shell: own::shipped("gpu-troubleshooting"),
        ..Options::default()
    };
    let text = render(&example::model_incident(), Format::Markdown, &options).unwrap();
    for line in [
        "- **Total GPU nodes:** 1\n",
        "- **Total GPU devices:** 1, as HAMi registered them\n",
        "- **Available GPU slots:** 8 of 10 on healthy cards; device memory left: 27.4 GiB of 67.4 GiB\n",
        "| 2 of 10 | 40.0 GiB of 67.4 GiB | 60 of 100 % | `default/gpu-textgen` |",
        "- **Device memory scaling:** `1.5` · `helm/kube-system/hami/values-all.yaml:12`\n",
        "| Scheduler | running, 1 of 1 | `v1.17.5` | `cluster-resources/pods/default.json:4` |\n",
        "| Device plugin | **not found among the 31 pods that were read** | none |  |\n",
        "| Webhook | registered as `vgpu.hami.io`, failure policy `Ignore` | the scheduler's |",
        "| Monitor | running, 1 of 1 | the device plugin's |  |\n",
        "- **HAMi's Helm release:** `kube-system/hami` 2.6.1: deployed · `helm/kube-system/hami/release.json:1`\n",
        "| `default` | 1 | 0 | 0 | 1 | 4.0 GiB |\n",
        "- **Severity:** High\n",
    ] {
        assert!(text.contains(line), "no {line}in\n{text}");
    }
    let nothing = render(&example::nothing_found(), Format::Markdown, &options).unwrap();
    assert!(
        nothing.contains("- **Total GPU nodes:** not known"),
        "unknown is not zero"
    );
}

#[test]
fn hami_that_is_asked_for_and_not_there_is_said_and_what_was_not_read_is_not_called_missing() {
    let mut analysis = example::model_incident();
    let options = Options {
        shell: own::shipped("gpu-troubleshooting"),
        ..Options::default()
    };
    let mut told = |change: &dyn Fn(&mut crate::model::state::Hami)| {
        let state = &mut analysis.state;
        state
            .components
            .retain(|part| !part.component.starts_with("hami"));
        change(state.hami.as_mut().unwrap());
        render(&analysis, Format::Markdown, &options).unwrap()
    };
    let gone = told(&|hami| {
        hami.releases[0].status = "failed".to_owned();
        hami.webhooks.clear();
        hami.monitors = (0, 0);
    });
    for line in [
        "`kube-system/hami` 2.6.1: **failed, not deployed**",
        "- **HAMi's pods:** **none among the 31 pods that were read, though 1 pod asks for what only HAMi serves**\n",
        "| Scheduler | **not found among the 31 pods that were read** | none |  |\n",
        "| Webhook | **not registered: none of the webhooks that were read is HAMi's** |",
        "| Monitor | not found: ",
    ] {
        assert!(gone.contains(line), "no {line}in\n{gone}");
    }
    let unread = told(&|hami| {
        hami.webhooks_listed = false;
        hami.pods_listed = 0;
    });
    assert!(!unread.contains("HAMi's pods:"), "{unread}");
    for part in ["Scheduler", "Webhook", "Monitor"] {
        assert!(
            unread.contains(&format!("| {part} | not known: ")),
            "{part}: {unread}"
        );
    }
}

#[test]
fn sarif_says_what_failed_passed_and_stayed_open() {
    let analysis = example::model_incident();
    let log: serde_json::Value = serde_json::from_str(&render_sarif(&analysis).unwrap()).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), analysis.differential.len());
    assert_eq!(
        (&results[0]["kind"], &results[0]["level"]),
        (&"fail".into(), &"error".into())
    );
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startLine"], 41);
    let open = results.iter().filter(|one| one["kind"] == "open");
    assert!(open.count() > 0);
}

#[test]
fn junit_fails_likely_and_confirmed_causes_and_skips_what_is_open() {
    let analysis = example::model_incident();
    let text = render_junit(std::slice::from_ref(&analysis));
    let xml = roxmltree::Document::parse(&text).unwrap();
    let count = |name: &str| {
        xml.descendants()
            .filter(|node| node.has_tag_name(name))
            .count()
    };
    let suite = xml
        .descendants()
        .find(|node| node.has_tag_name("testsuite"))
        .unwrap();
    let said = |name: &str| suite.attribute(name).unwrap().parse::<usize>().unwrap();
    assert_eq!(said("tests"), count("testcase"));
    assert_eq!(said("failures"), count("failure"));
    assert_eq!(said("skipped"), count("skipped"));
    assert_eq!(count("failure"), 2);
}

fn ticket(analysis: &Analysis) -> String {
    render(analysis, Format::Ticket, &Options::default()).unwrap()
}

#[test]
fn a_ticket_that_is_too_long_loses_proof_before_cause_and_never_half_a_sentence() {
    let mut analysis = example::model_incident();
    let long = "This sentence says a little more of the same. ".repeat(6);
    let first = &mut analysis.incidents[0];
    first.summary = format!("The toolkit wrote where nobody reads. {long}");
    first.verdict = Verdict::Likely;
    first.would_settle = vec![format!("Is it so? (cat /etc/a; cat /etc/b). {long}")];
    let text = ticket(&analysis);
    assert!(text.chars().count() <= 1_500, "{text}");
    let row = |label: &str| text.lines().find(|line| line.starts_with(label));
    assert!(row("Cause: ").unwrap().ends_with('.'), "{text}");
    assert!(
        row("Since: ").is_some_and(|line| line.ends_with('.')),
        "{text}"
    );
    // A path may be shortened at its beginning; no row ends so.
    assert!(!text.lines().any(|line| line.ends_with('…')), "{text}");
}

#[test]
fn every_first_screen_says_what_is_not_known() {
    let known = |analysis: &Analysis| {
        let text = ticket(analysis);
        let row = text.lines().find(|line| line.starts_with("Not known: "));
        row.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let mut analysis = example::model_incident();
    assert!(!known(&analysis).contains("Whether it is this cause"));
    analysis.incidents[0].verdict = Verdict::Likely;
    assert!(known(&analysis).contains("Whether it is this cause: "));
    analysis.incidents.clear();
    assert!(known(&analysis).contains("Whether its own last words are the whole cause."));
    analysis.unexplained[0].last_words.clear();
    assert!(known(&analysis).contains(": Why it fails: "));
    let calm = known(&example::nothing_found());
    assert!(!calm.contains("Why it fails"), "{calm}");
    assert!(calm.ends_with('.'), "{calm}");
}
