use chrono::{DateTime, TimeDelta, Utc};

use super::memory::{Full, Kill, parse as kernel};
use super::moments::{Kind, Moment, Validity, chrony_offset, first, synchronised, validity};
use super::{Around, Cause, Ending, Run, Said, ending, eviction};

const ID: &str = "3fc28fa1c647ceede9f6b340d0b16c9f1f663698972d22a52e296f291638e014";
const UID: &str = "a8697f49-441d-4d4f-90d2-6d8e1fa3bbe7";

fn at(clock: &str) -> DateTime<Utc> {
    let text = format!("2026-11-20T{clock}Z");
    DateTime::parse_from_rfc3339(&text)
        .expect("a time")
        .to_utc()
}

fn run(exit_code: i64, reason: &str) -> Run {
    Run {
        name: "app".to_owned(),
        id: ID.to_owned(),
        pod_uid: UID.to_owned(),
        exit_code,
        reason: reason.to_owned(),
        started: Some(at("10:00:00")),
        finished: Some(at("10:30:00")),
        memory_limit: Some("2Gi".to_owned()),
        ..Run::default()
    }
}

fn event(reason: &str, message: &str, clock: &str) -> Said {
    Said {
        reason: reason.to_owned(),
        message: message.to_owned(),
        times: (Some(at(clock)), Some(at(clock))),
    }
}

fn alone(run: &Run) -> Ending {
    ending(run, Around::default())
}

fn killed(oom_memcg: &str, clock: &str) -> Kill {
    let line = format!(
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=cri-containerd-{ID}.scope,mems_allowed=0-1,oom_memcg={oom_memcg},task_memcg=/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{}.slice/cri-containerd-{ID}.scope,task=python3,pid=4711,uid=0",
        UID.replace('-', "_")
    );
    Kill {
        at: Some(at(clock)),
        ..kernel(&line).expect("a kill")
    }
}

#[test]
fn the_kernels_line_says_whose_memory_was_full() {
    let pod = format!(
        "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{}.slice",
        UID.replace('-', "_")
    );
    for (group, full, cause) in [
        (
            format!("{pod}/cri-containerd-{ID}.scope"),
            Full::Container,
            Cause::OomContainer,
        ),
        (
            format!("/kubepods/burstable/pod{UID}/{ID}"),
            Full::Container,
            Cause::OomContainer,
        ),
        (pod, Full::Pod, Cause::OomPod),
        (
            format!("/kubepods/burstable/pod{UID}"),
            Full::Pod,
            Cause::OomPod,
        ),
        ("/kubepods.slice".to_owned(), Full::Parent, Cause::OomParent),
    ] {
        let kills = [killed(&group, "10:29:59")];
        assert_eq!(kills[0].full, full, "{group}");
        assert_eq!(
            (kills[0].container.as_str(), kills[0].pod_uid.as_str()),
            (ID, UID)
        );
        let found = ending(
            &run(137, "OOMKilled"),
            Around {
                kills: &kills,
                kernel_captured: true,
                ..Around::default()
            },
        );
        assert_eq!(found.cause, cause, "{group}");
        assert!(
            found.because.contains("python3 (pid 4711)"),
            "{}",
            found.because
        );
    }
}

#[test]
fn a_kill_of_the_whole_node_is_told_from_one_of_a_limit_in_old_lines_too() {
    let node = kernel("Out of memory: Killed process 123 (httpd) total-vm:1kB").expect("a kill");
    assert_eq!(
        (node.full, node.pid, node.process.as_str()),
        (Full::Node, 123, "httpd")
    );
    let old =
        kernel("Memory cgroup out of memory: Kill process 9 (java) score 1000 or sacrifice child");
    assert_eq!(old.map(|kill| kill.full), Some(Full::Unknown));
    let none = "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),global_oom,task_memcg=/system.slice/x.service,task=x,pid=5,uid=0";
    assert_eq!(kernel(none).map(|kill| kill.full), Some(Full::Node));
    assert_eq!(kernel("oom-kill:constraint=OTHER_CONSTRAINT"), None);
    assert_eq!(kernel("oom_reaper: reaped process 1"), None);
}

#[test]
fn a_kill_of_another_container_does_not_explain_this_one() {
    let mut other = killed("/kubepods.slice", "10:30:00");
    other.container = "0".repeat(64);
    other.pod_uid = "00000000-0000-0000-0000-000000000000".to_owned();
    let around = Around {
        kills: &[other],
        kernel_captured: true,
        ..Around::default()
    };
    let found = ending(&run(137, "Error"), around);
    assert_eq!(found.cause, Cause::Signal);
    assert!(
        found.because.contains("show no kill for memory"),
        "{}",
        found.because
    );
    let said = ending(&run(137, "OOMKilled"), around);
    assert_eq!(
        said.cause,
        Cause::Oom,
        "the status alone does not say whose memory was full"
    );
}

#[test]
fn one_exit_code_has_five_stories() {
    let tell = |events: &[Said], run: &Run| {
        ending(
            run,
            Around {
                events,
                kernel_captured: true,
                ..Around::default()
            },
        )
    };
    let killed = run(137, "Error");
    let probe = event(
        "Killing",
        "Container app failed liveness probe, will be restarted",
        "10:29:30",
    );
    let found = tell(&[probe], &killed);
    assert_eq!(found.cause, Cause::Liveness);
    assert!(
        found
            .because
            .ends_with("did not end within its grace period"),
        "{}",
        found.because
    );
    let startup = event(
        "Killing",
        "Container app failed startup probe, will be restarted",
        "10:29:30",
    );
    assert_eq!(tell(&[startup], &killed).cause, Cause::Startup);
    let other = event(
        "Killing",
        "Container other failed liveness probe, will be restarted",
        "10:29:30",
    );
    assert_eq!(
        tell(&[other], &killed).cause,
        Cause::Signal,
        "another container's probe"
    );
    let stop = event("Killing", "Stopping container app", "10:29:30");
    assert_eq!(
        tell(std::slice::from_ref(&stop), &killed).cause,
        Cause::Deleted
    );
    let late = event("Killing", "Stopping container app", "11:30:00");
    assert_eq!(
        tell(&[late], &killed).cause,
        Cause::Signal,
        "an event after the end is about a later run"
    );
    let evicted = event(
        "Evicted",
        "The node was low on resource: memory. ",
        "10:29:55",
    );
    assert_eq!(tell(&[stop, evicted], &killed).cause, Cause::Evicted);
    let boots = [at("10:32:00")];
    let boot = ending(
        &run(137, "Error"),
        Around {
            boots: &boots,
            ..Around::default()
        },
    );
    assert_eq!(boot.cause, Cause::NodeBoot);
}

#[test]
fn exit_codes_alone_say_what_they_can_and_no_more() {
    for (code, reason, cause, words) in [
        (0, "Completed", Cause::Completed, "without an error"),
        (1, "Error", Cause::Application, "with an error"),
        (126, "Error", Cause::BadCommand, "could not be executed"),
        (127, "Error", Cause::BadCommand, "not found"),
        (
            128,
            "StartError",
            Cause::CannotStart,
            "could not be started",
        ),
        (134, "Error", Cause::Crash, "SIGABRT"),
        (139, "Error", Cause::Crash, "SIGSEGV"),
        (143, "Error", Cause::Signal, "SIGTERM"),
        (137, "Error", Cause::Signal, "SIGKILL"),
        (255, "Unknown", Cause::Unknown, "lost it"),
        (-1, "Error", Cause::Application, "with an error"),
    ] {
        let found = alone(&run(code, reason));
        assert_eq!(found.cause, cause, "{code}");
        assert!(
            found.code.words.contains(words),
            "{code}: {}",
            found.code.words
        );
    }
    let start = Run {
        message:
            "failed to create containerd task: exec: \"serve\": executable file not found in $PATH"
                .to_owned(),
        ..run(128, "StartError")
    };
    assert_eq!(alone(&start).cause, Cause::BadCommand);
}

#[test]
fn an_evictions_sentence_names_resource_signal_and_threshold() {
    let low = "The node was low on resource: ephemeral-storage. Threshold quantity: 31189488855, available: 29362700Ki. Container provider was using 26060Ki, request is 0, has larger consumption of ephemeral-storage. ";
    let found = eviction::parse(low).expect("an eviction");
    assert!(found.node_was_short);
    assert_eq!(found.resource, "ephemeral-storage");
    assert_eq!(
        (found.threshold.as_str(), found.available.as_str()),
        ("31189488855", "29362700Ki")
    );
    let volume = eviction::parse("Usage of EmptyDir volume \"dshm\" exceeds the limit \"2Gi\". ")
        .expect("one");
    assert_eq!(
        (volume.own_limit.as_str(), volume.threshold.as_str()),
        ("volume dshm", "2Gi")
    );
    assert!(!volume.node_was_short);
    let container =
        eviction::parse("Container app exceeded its local ephemeral storage limit \"1Gi\". ")
            .expect("one");
    assert_eq!(
        (container.own_limit.as_str(), container.threshold.as_str()),
        ("container app", "1Gi")
    );
    let pod = eviction::parse(
        "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ",
    )
    .expect("one");
    assert_eq!(pod.threshold, "1Gi");
    let refused = eviction::parse("The node had condition: [DiskPressure]. ").expect("one");
    assert_eq!(refused.signal, "nodefs.available or imagefs.available");
    assert_eq!(
        eviction::parse("Pod was active on the node longer than the specified deadline"),
        None
    );
}

#[test]
fn what_happened_first_is_looked_for_in_the_hour_before_the_node_went_down() {
    let moment = |kind, clock| Moment {
        kind,
        at: at(clock),
    };
    let moments = [
        moment(Kind::Boot, "03:00:00"),
        moment(Kind::Pleg, "10:12:00"),
        moment(Kind::MemoryKill, "10:10:00"),
        moment(Kind::NotReady, "10:13:00"),
        moment(Kind::KubeletStart, "10:20:00"),
    ];
    assert_eq!(first(&moments), Some(2));
    assert_eq!(first(&moments[..2]), Some(0), "never down: the earliest");
    assert_eq!(first(&[]), None);
    let tie = [
        moment(Kind::NotReady, "10:13:00"),
        moment(Kind::Boot, "10:13:00"),
    ];
    assert_eq!(first(&tie), Some(1));
}

#[test]
fn dates_are_judged_by_the_clock_of_the_collection() {
    let now = at("12:00:00");
    let days = TimeDelta::days;
    assert_eq!(
        validity(now - days(400), now - days(1), now),
        Validity::Expired
    );
    assert_eq!(
        validity(now + days(1), now + days(366), now),
        Validity::NotYet
    );
    assert_eq!(
        validity(now - days(350), now + days(15), now),
        Validity::EndsSoon
    );
    assert_eq!(
        validity(now - days(1), now + days(364), now),
        Validity::Valid
    );
    let tracking =
        "Reference ID    : A9FEA97B\nSystem time     : 3.250000000 seconds slow of NTP time\n";
    assert_eq!(chrony_offset(tracking), Some(-3.25));
    assert_eq!(chrony_offset("System time : x seconds"), None);
    assert_eq!(
        synchronised("  System clock synchronized: no\n"),
        Some(false)
    );
    assert_eq!(synchronised("Failed to query server"), None);
}
