//! Timeline: what happened when, over all sources, drawn and as a table.

use super::{Section, SectionCtx};
use crate::model::{Analysis, Moment};
use crate::report::blocks::{Block, Rich};
use crate::report::{svg, words};

pub(super) static SECTION: Section = Section {
    id: "timeline",
    title: "Timeline",
    build,
};

/// Moments that the page shows.
const SHOWN: usize = 10;

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    if analysis.timeline.is_empty() {
        return vec![Block::paragraph(
            "No line with a time belongs to what happened.",
        )];
    }
    let shown = choose(&analysis.timeline, SHOWN);
    let all = choose(&analysis.timeline, ctx.limits.moments);
    let left_out = analysis.timeline.len() - all.len();
    let mut blocks = vec![Block::Figure {
        title: "Timeline (UTC)".to_owned(),
        captioned: false,
        svg: svg::timeline::draw("timeline-figure", &analysis.timeline),
        text: String::new(),
    }];
    blocks.push(table("What happened, in order", &shown, ctx));
    let mut rest = Vec::new();
    for view in svg::timeline::views("timeline-view", &analysis.timeline) {
        rest.push(Block::CloserView {
            summary: view.title.clone(),
            title: view.title,
            svg: view.svg,
        });
    }
    if all.len() > shown.len() {
        rest.push(table("Everything that happened, in order", &all, ctx));
    }
    if left_out > 0 {
        rest.push(Block::paragraph(format!("{left_out} more in report.json.")));
    }
    blocks.extend(Block::folded("The whole timeline, and closer views", rest));
    blocks
}

fn table(caption: &str, moments: &[&Moment], ctx: &SectionCtx) -> Block {
    let rows = moments.iter().map(|moment| row(moment, ctx)).collect();
    let columns = ["Time (UTC)", "Object", "What happened", "Cause", "Source"];
    Block::table(caption, &columns, rows)
}

/// The first `limit` moments, those of incidents before the rest, in the order of time.
fn choose(moments: &[Moment], limit: usize) -> Vec<&Moment> {
    let mut order: Vec<usize> = (0..moments.len()).collect();
    order.sort_by_key(|&index| (moments[index].incident.is_none(), index));
    order.truncate(limit);
    order.sort_unstable();
    order.into_iter().map(|index| &moments[index]).collect()
}

fn row(moment: &Moment, ctx: &SectionCtx) -> Vec<Rich> {
    let says = words::cut_at_word(moment.text.trim(), 110);
    // A quote of which no word fits says nothing.
    let mut text = Rich::prose(says.strip_suffix(": …").unwrap_or(&says));
    if moment.count > 1 {
        text = text.text(format!(" (×{})", moment.count));
    }
    vec![
        Rich::from(moment.at.format("%Y-%m-%d %H:%M:%S").to_string()),
        Rich::new().code(words::subject(&moment.subject)),
        text,
        moment
            .incident
            .as_ref()
            .map_or_else(Rich::new, |cause| Rich::new().code(cause.clone())),
        ctx.place(Rich::new(), &moment.place),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Place;
    use chrono::DateTime;

    #[test]
    fn moments_of_a_cause_are_kept_when_the_timeline_is_too_long() {
        let moment = |second: i64, incident: Option<&str>| Moment {
            at: DateTime::from_timestamp(second, 0).unwrap(),
            subject: String::new(),
            text: second.to_string(),
            place: Place {
                path: "a".into(),
                line: None,
            },
            count: 1,
            incident: incident.map(str::to_owned),
        };
        let all = [moment(1, None), moment(2, None), moment(3, Some("c"))];
        let kept: Vec<&str> = choose(&all, 2)
            .into_iter()
            .map(|m| m.text.as_str())
            .collect();
        assert_eq!(kept, ["1", "3"]);
    }
}
