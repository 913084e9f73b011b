//! What a kubelet or containerd says at the end of its log of the pods that it cannot run: on a machine of which no API
//! server was asked, nothing else tells that they fail.

use std::collections::BTreeMap;

use super::Sources;
use crate::facts::excerpt;
use crate::facts::failing::{ContainerRow, Failing, Moment, PodTrouble};
use crate::facts::kube::Pod;
use crate::facts::{AnyFact, Fact};
use crate::form::Form;
use crate::lines::{LogLine, Origin};
use crate::model::Place;
use crate::parsers::Channel;

/// A kubelet looks at a pod that it holds back every few seconds; what it has not said for so long has passed.
const LOOKS: i64 = 40;
/// A pod that it spoke of for a shorter time, in seconds, or more rarely, may be well with the next try.
const LASTS: i64 = 60;
/// So often.
const TIMES: u32 = 3;
/// Where lines have no clock: so many lines from the end.
const FROM_END: u32 = 50;
/// Bytes from the end of a log that are read.
const BYTES: usize = 512 << 10;
/// Pods of one log.
const PODS: usize = 64;
/// Words that are kept, in bytes.
const LONGEST: usize = 600;
/// A text of so few lines was chosen by a person: that it is said once is enough.
const PASTED: u32 = 200;
/// What each such line holds: of the kubelet, of containerd, which says with it that no sandbox was made, and of a probe that
/// finds a container not ready (`pkg/kubelet/prober/prober.go`, in its two forms).
const NEEDLES: [&[u8]; 4] = [
    b"rror syncing pod",
    b"RunPodSandbox for &PodSandboxMetadata{",
    b"Readiness probe for \"",
    b"probeType=\"Readiness\"",
];
/// The state of a pod whose probe fails.
const NOT_READY: &str = "not ready";

/// Whether a text holds one of them.
fn speaks_of_pods(text: &[u8]) -> bool {
    let mut needles = NEEDLES.iter();
    needles.any(|needle| memchr::memmem::find(text, needle).is_some())
}

static POD: Form = Form::new(concat!(
    r#" pod="(?P<ns>[a-z0-9-]+)/(?P<name>[a-z0-9.-]+)""#,
    r#"|PodSandboxMetadata\{Name:(?P<cri_name>[a-z0-9.-]+),Uid:[^,]*,Namespace:(?P<cri_ns>[a-z0-9-]+),"#,
    r#"|\("(?P<old_name>[a-z0-9.-]+)_(?P<old_ns>[a-z0-9-]+)\([0-9a-f-]{8,}\)"\)"#,
    r#"|Readiness probe for "(?P<probed>[a-z0-9.-]+)_(?P<probed_ns>[a-z0-9-]+)\([0-9a-f-]{8,}\):"#,
));
static WORDS: Form = Form::new(concat!(
    r#"(?:skipping" err="(?P<new>.+?)" pod="|, skipping: (?P<old>.+)$"#,
    r#"|failed, error" error="(?P<cri>.+)"\s*$"#,
    r#"|Readiness probe for .{0,200} failed \(failure\): (?P<probe_old>.+?)\s*$"#,
    r#"|probeType="Readiness" .{0,300}probeResult="failure" output="(?P<probe>.+?)"\s*$)"#,
));
static STATE: Form = Form::new(
    r#"failed to \\*"(?P<step>\w+)\\*"(?: for \\*"(?P<container>[^"\\]+)\\*")? with (?P<state>\w+):"#,
);

/// A trouble as one line of a log says it.
#[derive(Debug)]
pub(super) struct Said {
    offset: u32,
    first: Moment,
    moment: Moment,
    times: u32,
    trouble: PodTrouble,
}

impl Said {
    /// Its last words, with when and how they were said first.
    fn again(self, offset: u32, moment: Moment, trouble: PodTrouble) -> Self {
        Self {
            offset,
            moment,
            times: self.times + 1,
            trouble: PodTrouble {
                first: self.trouble.first,
                since: self.trouble.since,
                ..trouble
            },
            ..self
        }
    }
}

/// The last word about each pod in the end of a log that is still so at its end.
pub(super) fn of_end(origin: &Origin<'_>, bytes: &[u8], lines: u32) -> Vec<Said> {
    if !matches!(origin.channel, Channel::Journal | Channel::Text) {
        return Vec::new();
    }
    let mut begin = bytes.len().saturating_sub(BYTES);
    if begin > 0 {
        begin += memchr::memchr(b'\n', &bytes[begin..]).map_or(0, |at| at + 1);
    }
    let tail = &bytes[begin..];
    if !speaks_of_pods(tail) {
        return Vec::new();
    }
    let is_pasted = origin.channel == Channel::Text && lines <= PASTED;
    let held = u32::try_from(memchr::memchr_iter(b'\n', tail).count()).unwrap_or(u32::MAX);
    let mut offset = lines.saturating_sub(held);
    let mut last: BTreeMap<(String, String), Said> = BTreeMap::new();
    let mut end = Moment::default();
    for raw in tail.split(|byte| *byte == b'\n') {
        if speaks_of_pods(raw) {
            let line = origin.decode(raw, offset);
            if let Some(trouble) = trouble(&line, raw)
                && last.len() < PODS
            {
                let moment = moment(&line);
                let key = (trouble.namespace.clone(), trouble.pod.clone());
                let said = match last.remove(&key) {
                    Some(before) => before.again(offset, moment, trouble),
                    None => Said {
                        offset,
                        first: moment,
                        moment,
                        times: 1,
                        trouble,
                    },
                };
                last.insert(key, said);
            }
        }
        offset = offset.saturating_add(1);
    }
    for raw in tail.rsplit(|byte| *byte == b'\n').take(20) {
        let found = moment(&origin.decode(raw, 0));
        if found.at.or(found.clock).or(found.klog).is_some() {
            end = found;
            break;
        }
    }
    let lasts = |said: &Said| {
        let went_on = said.moment.since(&said.first);
        let often = said.times >= TIMES && went_on.is_none_or(|seconds| seconds >= LASTS);
        (is_pasted || often)
            && match end.since(&said.moment) {
                Some(seconds) => seconds <= LOOKS,
                None => lines.saturating_sub(said.offset) <= FROM_END,
            }
    };
    last.into_values().filter(lasts).collect()
}

fn moment(line: &LogLine<'_>) -> Moment {
    Moment {
        at: line.at.map(|at| at.timestamp()),
        clock: line.clock.map(i64::from),
        klog: line.klog.map(i64::from),
    }
}

fn trouble(line: &LogLine<'_>, raw: &[u8]) -> Option<PodTrouble> {
    let pod = POD.captures(&line.text)?;
    let part = |forms: [&str; 4]| {
        let found = forms.into_iter().find_map(|form| pod.name(form));
        found.map_or(String::new(), |one| one.as_str().to_owned())
    };
    let words = WORDS.captures(&line.text)?;
    let is_probe = ["probe_old", "probe"]
        .iter()
        .any(|form| words.name(form).is_some());
    let words = ["new", "old", "cri", "probe_old", "probe"]
        .into_iter()
        .find_map(|form| words.name(form))?
        .as_str();
    let state = STATE.captures(words);
    let named = |name: &str| {
        let found = state.as_ref().and_then(|found| found.name(name));
        found.map_or(String::new(), |one| one.as_str().to_owned())
    };
    let as_it_stands = excerpt(String::from_utf8_lossy(raw).trim(), LONGEST);
    Some(PodTrouble {
        namespace: part(["ns", "old_ns", "cri_ns", "probed_ns"]),
        pod: part(["name", "old_name", "cri_name", "probed"]),
        container: named("container"),
        state: match is_probe {
            true => NOT_READY.to_owned(),
            false => named("state"),
        },
        words: excerpt(&words.replace("\\\"", "\"").replace("\\\\", "\\"), LONGEST),
        host: line.host.to_string(),
        line: as_it_stands.clone(),
        first: as_it_stands,
        since: line.at,
    })
}

/// The facts of an entry; `before` lines of it stand before the piece.
pub(super) fn facts(said: Vec<Said>, path: &str, before: u32) -> impl Iterator<Item = AnyFact> {
    said.into_iter().map(move |said| {
        let place = Place {
            path: path.into(),
            line: Some(said.offset.saturating_add(before).saturating_add(1)),
        };
        Fact {
            text: said.trouble.words.as_str().into(),
            at: said
                .moment
                .at
                .and_then(|at| chrono::DateTime::from_timestamp(at, 0)),
            data: said.trouble,
            place,
        }
        .into()
    })
}

/// Pods that only a kubelet's log tells of, each once.
pub(super) fn pods(sources: &Sources<'_>, known: &[Fact<Failing>]) -> Vec<Fact<Failing>> {
    let listed = sources.facts.table::<Pod>();
    let rows = sources.facts.table::<ContainerRow>();
    let mut found: Vec<Fact<Failing>> = Vec::new();
    for told in sources.facts.table::<PodTrouble>() {
        let data = &told.data;
        let subject = format!("pod/{}/{}", data.namespace, data.pod);
        let is_known = listed.iter().any(|pod| pod.data.name == data.pod)
            || known
                .iter()
                .chain(&found)
                .any(|one| one.data.subject == subject || one.data.name == data.pod);
        // A runtime that lists it as running was asked later than the kubelet wrote.
        let runs = rows.iter().any(|row| {
            let row = &row.data;
            row.state == "Running" && (row.pod == data.pod || row.name == data.container)
        });
        // One that is not ready runs.
        let runs = runs && data.state != NOT_READY;
        if is_known || runs {
            continue;
        }
        found.push(Fact {
            data: Failing {
                what: "pod".into(),
                subject,
                namespace: data.namespace.clone(),
                name: data.pod.clone(),
                container: data.container.clone(),
                node: crate::lines::node_of(&told.place.path).to_owned(),
                state: data.state.clone(),
                seen: false,
                ended: data.state == "CrashLoopBackOff",
                message: data.words.clone(),
                // What it says of the pod it also records as an event of it.
                warnings: vec![data.words.clone()],
                since: data.since,
                lines: vec![data.first.clone()],
                ..Failing::default()
            },
            place: told.place.clone(),
            text: told.text.clone(),
            at: told.at,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(channel: Channel, text: &str) -> Vec<(String, String, String)> {
        let origin = Origin::of("journal.txt", channel);
        let lines = u32::try_from(text.matches('\n').count()).unwrap();
        let all = of_end(&origin, text.as_bytes(), lines);
        let told = |one: Said| (one.trouble.namespace, one.trouble.pod, one.trouble.words);
        all.into_iter().map(told).collect()
    }

    #[test]
    fn a_pod_that_its_probe_finds_not_ready_to_the_end_is_a_trouble() {
        let old = |second: u32| {
            format!(
                "Nov 20 10:20:{second:02} n1 kubelet[812]: I1120 10:20:{second:02}.100000     812 prober.go:117] Readiness probe for \"coredns-5d78_kube-system(0a1b2c3d-4e5f):coredns\" failed (failure): HTTP probe failed with statuscode: 503\n"
            )
        };
        let new = |second: u32| {
            format!(
                "Nov 20 10:20:{second:02} n1 kubelet[812]: I1120 10:20:{second:02}.100000     812 prober.go:107] \"Probe failed\" probeType=\"Readiness\" pod=\"kube-system/coredns-5d78\" podUID=\"0a1b2c3d\" containerName=\"coredns\" probeResult=\"failure\" output=\"HTTP probe failed with statuscode: 503\"\n"
            )
        };
        for form in [&old as &dyn Fn(u32) -> String, &new] {
            let log: String = [1, 11, 21, 31].map(form).concat();
            let told = said(Channel::Text, &log);
            let [(namespace, pod, words)] = &told[..] else {
                panic!("{told:?}");
            };
            assert_eq!(
                (namespace.as_str(), pod.as_str()),
                ("kube-system", "coredns-5d78")
            );
            assert_eq!(words, "HTTP probe failed with statuscode: 503");
        }
    }

    #[test]
    fn a_sandbox_that_containerd_cannot_make_is_a_trouble_of_its_pod() {
        let line = "time=\"2026-11-20T10:00:01Z\" level=error msg=\"RunPodSandbox for &PodSandboxMetadata{Name:web-0,Uid:0a1b,Namespace:shop,Attempt:0,} failed, error\" error=\"failed to setup network for sandbox \\\"3c05\\\": no route\"\n";
        let words = "failed to setup network for sandbox \"3c05\": no route".to_owned();
        assert_eq!(
            said(Channel::Text, line),
            [("shop".to_owned(), "web-0".to_owned(), words)]
        );
        assert_eq!(
            said(Channel::Journal, line),
            [],
            "once in a journal is over with the next try"
        );
        let works = line.replace(" failed, error\" error=", " returns sandbox id\" x=");
        assert_eq!(said(Channel::Text, &works), []);
    }
}
