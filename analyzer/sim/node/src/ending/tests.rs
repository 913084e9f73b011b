use chrono::{DateTime, Utc};

use super::memory::{Full, Kill, parse as kernel};
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
    let groups = kernel(&format!(
        "Task in /kubepods/burstable/pod{UID}/{ID} killed as a result of limit of /kubepods/burstable/pod{UID}"
    ));
    let groups = groups.expect("the groups of a kill");
    assert_eq!(
        (groups.pid, groups.full, groups.container.as_str()),
        (0, Full::Pod, ID),
        "before 5.0 the groups stand in a line of their own"
    );
    let none = "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),global_oom,task_memcg=/system.slice/x.service,task=x,pid=5,uid=0";
    assert_eq!(kernel(none).map(|kill| kill.full), Some(Full::Node));
    assert_eq!(kernel("oom-kill:constraint=OTHER_CONSTRAINT"), None);
    assert_eq!(kernel("oom_reaper: reaped process 1"), None);
}

#[test]
fn groups_below_a_container_and_above_a_node_that_is_one_are_told_apart() {
    let summary = |group: &str, task: &str| {
        kernel(&format!(
            "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg={group},task_memcg={task},task=x,pid=5,uid=0"
        ))
        .expect("a kill")
    };
    let pod = format!("kubepods-burstable-pod{}.slice", UID.replace('-', "_"));
    let own = format!("/kubepods.slice/{pod}/cri-containerd-{ID}.scope");
    let below = summary(&own, &format!("{own}/init"));
    assert_eq!(
        (below.full, below.container.as_str()),
        (Full::Container, ID)
    );
    let colons = summary(&own, &format!("/system.slice/{pod}:cri-containerd:{ID}"));
    assert_eq!(
        (colons.container.as_str(), colons.pod_uid.as_str()),
        (ID, UID)
    );
    let node = "1".repeat(64);
    let inside = format!("/docker/{node}/kubelet.slice/kubelet-kubepods.slice");
    assert_eq!(
        summary(&inside, &own).full,
        Full::Parent,
        "all pods of a node in a container"
    );
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
    let before_1_13 = [event(
        "Killing",
        "Killing container with id docker://app:Container failed liveness probe.. Container will be killed and recreated.",
        "10:29:30",
    )];
    assert_eq!(tell(&before_1_13, &killed).cause, Cause::Liveness);
    assert_eq!(
        tell(&before_1_13, &run(0, "Completed")).cause,
        Cause::Liveness,
        "a program that ends well when it is asked to was asked"
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
    for (sentence, resource, signal) in [
        (
            "The node was low on resource: [DiskPressure].",
            "ephemeral-storage",
            "nodefs.available or imagefs.available",
        ),
        (
            "The node was low on resource: [MemoryPressure].",
            "memory",
            "memory.available",
        ),
        (
            "The node was low on resource: imagefs. ",
            "ephemeral-storage",
            "imagefs.available",
        ),
        (
            "The node was low on resource: nodefsInodes. ",
            "inodes",
            "nodefs.inodesFree",
        ),
        (
            "The node was low on resource: pids. Threshold quantity: 1Ki, available: 12. ",
            "pids",
            "pid.available",
        ),
        (
            "The node was low on resource: memory. Container app was using 2Gi, which exceeds its request of 0. ",
            "memory",
            "memory.available",
        ),
    ] {
        let found = eviction::parse(sentence).expect(sentence);
        assert_eq!(
            (found.resource.as_str(), found.signal.as_str()),
            (resource, signal),
            "{sentence}"
        );
    }
    let refused = eviction::parse("The node had condition: [DiskPressure]. ").expect("one");
    assert_eq!(refused.signal, "nodefs.available or imagefs.available");
    assert_eq!(
        eviction::parse("Pod was active on the node longer than the specified deadline"),
        None
    );
}
