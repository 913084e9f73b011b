//! The timeline drawing: a lane for each who speaks, a mark per moment, marks of one spot joined; and closer views of
//! the spans in which things happened, since a year and a second do not fit on one axis.

use std::collections::BTreeMap;

use chrono::TimeDelta;

use super::axis::Axis;
use super::{Canvas, Svg};
use crate::model::Moment;
use crate::report::{escape, words};
use crate::scan::joined;

/// Crowds with a closer view.
const MAX_VIEWS: usize = 4;
/// How far around the first sign of a cause the closest view reaches.
const AROUND: TimeDelta = TimeDelta::minutes(5);
const WIDTH: i64 = 836;
const LEFT: i64 = 160;
const RIGHT: i64 = 24;
const LANE: i64 = 30;
const TOP: i64 = 10;
/// Moments closer than this many pixels are one mark.
const SPOT: i64 = 6;

/// Moments that share a spot on a lane.
#[derive(Default)]
struct Mark<'a> {
    first: Option<&'a Moment>,
    moments: u64,
    count: u64,
    of_incident: bool,
}

/// A closer view: a heading and its drawing.
pub(crate) struct View {
    /// What it shows, from when to when, and how many moments.
    pub(crate) title: String,
    /// The drawing.
    pub(crate) svg: Svg,
}

/// Draws all moments.
pub(crate) fn draw(id: &str, moments: &[Moment]) -> Svg {
    let all: Vec<&Moment> = moments.iter().collect();
    draw_some(id, &all, "When it happened, by who said it")
}

/// Steps closer: spans that are crowded on the whole axis, and in each the minutes around the first sign of a
/// cause, every one on an axis of its own.
pub(crate) fn views(id: &str, moments: &[Moment]) -> Vec<View> {
    let mut steps: Vec<(&str, Vec<&Moment>)> = Vec::new();
    let crowds = crowds(moments);
    // One crowd is the whole drawing over again.
    let whole = crowds.len() < 2;
    for crowd in chosen(crowds) {
        let closest = first_minutes(&crowd);
        if !whole {
            let shows = crowd.iter().any(|moment| moment.incident.is_some());
            let what = if shows {
                "Closer, where a cause shows"
            } else {
                "Closer, what else happened"
            };
            steps.push((what, crowd));
        }
        if let Some(minutes) = closest {
            steps.push(("The minutes around the first sign", minutes));
        }
    }
    let view = |(nth, (what, group)): (usize, (&str, Vec<&Moment>))| {
        let title = format!(
            "{what}: {} to {} ({})",
            words::time(group[0].at),
            words::time(group[group.len() - 1].at),
            words::count(group.len() as u64, "moment")
        );
        let svg = draw_some(&format!("{id}-{}", nth + 1), &group, &title);
        View { title, svg }
    };
    steps.into_iter().enumerate().map(view).collect()
}

/// Moments in the order of time, parted where for long nothing happened.
fn crowds(moments: &[Moment]) -> Vec<Vec<&Moment>> {
    let mut sorted: Vec<&Moment> = moments.iter().collect();
    sorted.sort_by_key(|moment| moment.at);
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else {
        return Vec::new();
    };
    let whole = last.at - first.at;
    let gap = (whole / 12).max(TimeDelta::seconds(1));
    let mut groups: Vec<Vec<&Moment>> = Vec::new();
    for moment in sorted {
        match groups.last_mut() {
            Some(group) if moment.at - group[group.len() - 1].at <= gap => group.push(moment),
            _ => groups.push(vec![moment]),
        }
    }
    groups
}

/// The crowds worth a view, in the order of time: those of incidents and the largest.
fn chosen(mut crowds: Vec<Vec<&Moment>>) -> Vec<Vec<&Moment>> {
    // Within a second there is nothing to see closer.
    let span = |group: &[&Moment]| group[group.len() - 1].at - group[0].at;
    crowds.retain(|group| group.len() > 1 && span(group) >= TimeDelta::seconds(1));
    crowds.sort_by_key(|group| {
        let of_incident = group.iter().any(|moment| moment.incident.is_some());
        (!of_incident, std::cmp::Reverse(group.len()))
    });
    crowds.truncate(MAX_VIEWS);
    crowds.sort_by_key(|group| group[0].at);
    crowds
}

/// What happened shortly before and after the first sign of a cause, where that is much less than the crowd.
fn first_minutes<'a>(crowd: &[&'a Moment]) -> Option<Vec<&'a Moment>> {
    let sign = crowd.iter().find(|moment| moment.incident.is_some())?.at;
    let near = |moment: &&&Moment| (moment.at - sign).abs() <= AROUND;
    let minutes: Vec<&Moment> = crowd.iter().filter(near).copied().collect();
    let span = |group: &[&Moment]| group[group.len() - 1].at - group[0].at;
    let closer = span(&minutes) * 3 <= span(crowd);
    (minutes.len() > 1
        && minutes.len() < crowd.len()
        && closer
        && span(&minutes) >= TimeDelta::seconds(1))
    .then_some(minutes)
}

fn draw_some(id: &str, moments: &[&Moment], title: &str) -> Svg {
    let start = moments.iter().map(|moment| moment.at).min();
    let end = moments.iter().map(|moment| moment.at).max();
    let (Some(start), Some(end)) = (start, end) else {
        return Canvas::new().finish(id, WIDTH, LANE, title, "No moment is known.");
    };
    let axis = Axis::new(start, end, LEFT, WIDTH - RIGHT);
    let lanes = lanes(moments);
    let bottom = TOP + lanes.len() as i64 * LANE;
    let mut canvas = Canvas::new();
    axis.grid(&mut canvas, TOP, bottom);
    for (index, name) in lanes.iter().enumerate() {
        let y = TOP + index as i64 * LANE + LANE / 2;
        lane(&mut canvas, &axis, moments, name, y);
    }
    let height = bottom + 30;
    let description = format!(
        "{} of {} from {} to {}. The table below lists them.",
        words::count(moments.len() as u64, "moment"),
        words::join(
            &lanes
                .iter()
                .map(|lane| (*lane).to_owned())
                .collect::<Vec<_>>()
        ),
        words::time(start),
        words::time(end)
    );
    canvas.finish(id, WIDTH, height, title, &description)
}

/// Who speaks, from what people do down to pods.
const LANES: [&str; 7] = [
    "changes by people",
    "kernel",
    "container runtime",
    "kubelet",
    "node, other units",
    "control plane",
    "pods",
];

/// Parts of a path, or of a unit's name, by the lane that they belong to; the first that fits decides.
const SPEAKERS: &[(&str, &[&str])] = &[
    (
        "changes by people",
        &[
            "helm/", "/apt/", "dpkg", "/dnf", "yum.log", "auth", "sudo", "_history",
        ],
    ),
    (
        "kernel",
        &["kernel", "kern.log", "dmesg", "nvidia-bug-report"],
    ),
    ("kubelet", &["kubelet", "k3s", "rke2", "k0s"]),
    (
        "container runtime",
        &["containerd", "docker", "crio", "cri-o"],
    ),
    (
        "control plane",
        &[
            "etcd",
            "kube-apiserver",
            "kube-scheduler",
            "kube-controller-manager",
        ],
    ),
];

/// The lane of a moment: events by what they are about, logs of pods as pods, anything else by who wrote it.
pub(crate) fn lane_of(moment: &Moment) -> &'static str {
    let path = joined::within(&moment.place.path);
    let speaker = |text: &str| {
        let mut known = SPEAKERS.iter();
        known
            .find(|(_, parts)| parts.iter().any(|part| text.contains(part)))
            .map(|(lane, _)| *lane)
    };
    if path.starts_with("cluster-resources/") {
        let parts: Vec<&str> = moment.subject.split('/').collect();
        return match parts.as_slice() {
            ["pod", _, name, ..] => {
                let plane = speaker(name).filter(|lane| *lane == "control plane");
                plane.unwrap_or("pods")
            }
            ["node", ..] => "node, other units",
            _ => "pods",
        };
    }
    // A list of processes says in its words which one it means.
    let list = path.ends_with("processes.json");
    let text = if list { moment.text.as_str() } else { path };
    speaker(text).unwrap_or_else(|| match moment.subject.starts_with("pod/") {
        true => "pods",
        false => "node, other units",
    })
}

/// Lanes to draw, people above and pods below.
fn lanes(moments: &[&Moment]) -> Vec<&'static str> {
    let used: Vec<&str> = moments.iter().map(|moment| lane_of(moment)).collect();
    LANES
        .into_iter()
        .filter(|lane| used.contains(lane))
        .collect()
}

fn lane(canvas: &mut Canvas, axis: &Axis, moments: &[&Moment], name: &str, y: i64) {
    canvas.raw(format_args!(
        "<path d=\"M{LEFT} {y} H{}\" class=\"lane\"/>",
        WIDTH - RIGHT
    ));
    canvas.text(LEFT - 14, y + 4, "label", "end", name);
    let mut marks: BTreeMap<i64, Mark> = BTreeMap::new();
    let of_lane = moments.iter().filter(|moment| lane_of(moment) == name);
    for moment in of_lane {
        let mark = marks.entry(axis.x(moment.at) / SPOT).or_default();
        mark.first.get_or_insert(moment);
        mark.moments += 1;
        mark.count = mark.count.saturating_add(moment.count);
        mark.of_incident |= moment.incident.is_some();
    }
    for mark in marks.values() {
        draw_mark(canvas, axis, mark, y);
    }
}

fn draw_mark(canvas: &mut Canvas, axis: &Axis, mark: &Mark, y: i64) {
    let Some(first) = mark.first else { return };
    let class = if mark.of_incident { "mark hit" } else { "mark" };
    let radius = match mark.count {
        0 | 1 => 5,
        2..=20 => 6,
        _ => 7,
    };
    let mut text = format!(
        "{} {}",
        words::time(first.at),
        escape::cut_end(first.text.trim(), 200)
    );
    if mark.moments > 1 {
        text = format!("{text} (and {} more)", mark.moments - 1);
    }
    let text = escape::html(&text);
    let x = axis.x(first.at);
    canvas.raw(format_args!(
        "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" class=\"{class}\"><title>{text}</title></circle>"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Place;
    use chrono::{DateTime, Utc};

    fn moment(at: &str) -> Moment {
        let at: DateTime<Utc> = at.parse().unwrap();
        Moment {
            at,
            subject: String::new(),
            text: String::new(),
            place: Place {
                path: "nodes/a/journal/kernel.json".into(),
                line: Some(1),
            },
            count: 1,
            incident: None,
        }
    }

    #[test]
    fn two_crowds_far_apart_get_a_view_each() {
        let all = [
            moment("2025-01-01T00:00:00Z"),
            moment("2025-01-01T00:00:30Z"),
            moment("2026-01-01T00:00:00Z"),
            moment("2026-01-01T00:10:00Z"),
        ];
        let titles: Vec<String> = views("t", &all)
            .into_iter()
            .map(|view| view.title)
            .collect();
        assert_eq!(titles.len(), 2);
        assert!(titles[0].contains("2025-01-01 00:00:30"));
        assert!(views("t", &all[..2]).is_empty(), "one crowd is the whole");
    }

    #[test]
    fn the_minutes_around_the_first_sign_get_a_view_of_their_own() {
        let mut all: Vec<Moment> = (0..18)
            .map(|nth| moment(&format!("2026-01-01T0{}:{}0:00Z", nth / 6, nth % 6)))
            .collect();
        all.push(moment("2026-01-01T01:02:00Z"));
        assert!(views("t", &all).is_empty(), "nothing shows a cause");
        all[6].incident = Some("cause".to_owned());
        let titles: Vec<String> = views("t", &all)
            .into_iter()
            .map(|view| view.title)
            .collect();
        let closest = "The minutes around the first sign: 2026-01-01 01:00:00 UTC to 2026-01-01 01:02:00 UTC (2 moments)";
        assert!(titles.iter().any(|title| title == closest), "{titles:?}");
    }

    #[test]
    fn a_moment_stands_on_the_lane_of_who_speaks() {
        let lane = |path: &str, subject: &str, text: &str| {
            let mut one = moment("2026-01-01T00:00:00Z");
            one.place.path = path.into();
            subject.clone_into(&mut one.subject);
            text.clone_into(&mut one.text);
            lane_of(&one)
        };
        let unit = "nodes/a/journal/snap.k8s.kubelet.service.json";
        assert_eq!(lane(unit, "node/a", ""), "kubelet");
        assert_eq!(lane("nodes/a/journal/kernel.json", "node/a", ""), "kernel");
        let events = "cluster-resources/events/default.json";
        assert_eq!(lane(events, "pod/default/x", ""), "pods");
        assert_eq!(lane(events, "node/a", ""), "node, other units");
        let log = "cluster-resources/pods/logs/kube-system/etcd-a/etcd.log";
        assert_eq!(lane(log, "pod/kube-system/etcd-a", ""), "control plane");
        let started = "process containerd started (pid 7)";
        let list = "nodes/a/processes.json";
        assert_eq!(lane(list, "node/a", started), "container runtime");
        assert_eq!(
            lane("helm/gpu/gpu/values.yaml", "", ""),
            "changes by people"
        );
    }
}
