//! The parts of HAMi and of the GPU stack: what runs, in which version, and what of HAMi was not found.

use super::Rich;
use crate::model::state::{ComponentState, Hami, State};
use crate::report::blocks::Block;
use crate::report::sections::SectionCtx;
use crate::report::svg::nodes::is_well;
use crate::report::words;

/// HAMi's parts that are workloads of their own.
const PARTS: [(&str, &str); 2] = [
    ("Scheduler", "hami-scheduler"),
    ("Device plugin", "hami-device-plugin"),
];

pub(super) fn components(state: &State, ctx: &SectionCtx) -> Vec<Block> {
    let mut rows = Vec::new();
    for part in &state.components {
        let label = PARTS
            .iter()
            .find(|(_, component)| *component == part.component)
            .map_or(part.component.as_str(), |(label, _)| label);
        rows.push(component(label, part, ctx));
    }
    if let Some(hami) = &state.hami {
        for (label, component) in PARTS {
            let is_there = |part: &ComponentState| part.component == component;
            if !state.components.iter().any(is_there) {
                rows.push(unseen(label, hami));
            }
        }
        rows.extend(webhook(hami, ctx));
        rows.push(monitor(hami));
    }
    if rows.is_empty() {
        return vec![Block::paragraph(
            "No workload of the GPU stack is in this input.",
        )];
    }
    vec![Block::table(
        "Components",
        &["Component", "Status", "Version", "Source"],
        rows,
    )]
}

fn component(label: &str, part: &ComponentState, ctx: &SectionCtx) -> Vec<Rich> {
    let status = if is_well(part) {
        Rich::from(format!("running, {} of {}", part.ready, part.desired))
    } else {
        let why = if part.troubled.is_empty() {
            String::new()
        } else {
            format!(": {}", part.troubled.join(", "))
        };
        Rich::new().strong(format!("not well, {} of {}{why}", part.ready, part.desired))
    };
    let version = if part.version.is_empty() {
        Rich::from("not said")
    } else {
        Rich::new().code(part.version.clone())
    };
    let place = part.place.as_ref();
    vec![
        Rich::from(label),
        status,
        version,
        place.map_or_else(Rich::new, |place| ctx.place(Rich::new(), place)),
    ]
}

/// A part without a workload and without pods: among pods that were read it is not there, else it is not known.
fn unseen(label: &str, hami: &Hami) -> Vec<Rich> {
    let (status, version) = match hami.pods_listed {
        0 => (
            Rich::from("not known: no pod is in this input"),
            "not known",
        ),
        pods => {
            let text = format!(
                "not found among the {} that were read",
                words::count(pods, "pod")
            );
            (Rich::new().strong(text), "none")
        }
    };
    vec![Rich::from(label), status, Rich::from(version), Rich::new()]
}

fn webhook(hami: &Hami, ctx: &SectionCtx) -> Vec<Vec<Rich>> {
    let row = |status: Rich, place: Rich| {
        vec![
            Rich::from("Webhook"),
            status,
            Rich::from("the scheduler's"),
            place,
        ]
    };
    if hami.webhooks.is_empty() {
        let status = if hami.webhooks_listed {
            Rich::new().strong("not registered: none of the webhooks that were read is HAMi's")
        } else {
            Rich::from("not known: no webhook configuration is in this input")
        };
        return vec![row(status, Rich::new())];
    }
    let registered = hami.webhooks.iter().map(|webhook| {
        let status = Rich::from("registered as ").code(webhook.name.clone());
        let status = match webhook.failure_policy.as_str() {
            "" => status,
            policy => status.text(", failure policy ").code(policy),
        };
        row(status, ctx.place(Rich::new(), &webhook.place))
    });
    registered.collect()
}

fn monitor(hami: &Hami) -> Vec<Rich> {
    let (running, all) = hami.monitors;
    let status = match (running, all, hami.pods_listed) {
        (_, 0, 0) => Rich::from("not known: no pod is in this input"),
        (_, 0, _) => Rich::from(
            "not found: no container of it is in the device plugin's pods that were read",
        ),
        (running, all, _) if running == all => Rich::from(format!("running, {running} of {all}")),
        (running, all, _) => Rich::new().strong(format!("not well, {running} of {all} run")),
    };
    vec![
        Rich::from("Monitor"),
        status,
        Rich::from("the device plugin's"),
        Rich::new(),
    ]
}

/// What says that HAMi is not there, or not whole: a release that did not deploy, pods that ask for it in vain.
pub(super) fn standing(state: &State, ctx: &SectionCtx) -> Vec<(&'static str, Rich)> {
    let Some(hami) = &state.hami else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for release in &hami.releases {
        let text = Rich::new()
            .code(release.name.clone())
            .text(format!(" {}: ", release.version));
        let text = match release.status.as_str() {
            "" => text.text("status not said"),
            "deployed" => text.text("deployed"),
            other => text.strong(format!("{other}, not deployed")),
        };
        found.push((
            "HAMi's Helm release",
            ctx.place(text.text(" · "), &release.place),
        ));
    }
    let runs = state
        .components
        .iter()
        .any(|part| part.component.starts_with("hami"));
    if !runs && hami.pods_listed > 0 {
        let mut text = format!(
            "none among the {} that were read",
            words::count(hami.pods_listed, "pod")
        );
        if hami.asked_for > 0 {
            let asking = words::count(hami.asked_for, "pod");
            let verb = if hami.asked_for == 1 { "asks" } else { "ask" };
            text = format!("{text}, though {asking} {verb} for what only HAMi serves");
        }
        found.push(("HAMi's pods", Rich::new().strong(text)));
    }
    found
}
