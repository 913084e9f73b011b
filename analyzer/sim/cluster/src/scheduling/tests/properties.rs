//! What holds for any cluster.

use proptest::prelude::*;

use super::*;

fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let one = (0..9_u32, 1..9_u32, 0..4_u32, any::<bool>(), "[ab]");
    proptest::collection::vec(one, 1..6).prop_map(|all| {
        let made = all.into_iter().enumerate().map(|(number, (gpus, cpus, pods, closed, zone))| {
            let name = format!("n{number}");
            let has = json!({"cpu": cpus.to_string(), "pods": pods.to_string()});
            let extra = json!({"metadata": {"labels": {"topology.kubernetes.io/zone": zone}}, "spec": {"unschedulable": closed && cpus > 6},
                "status": {"allocatable": has, "capacity": has}});
            node(&name, gpus, extra)
        });
        made.collect()
    })
}

fn pods() -> impl Strategy<Value = Vec<Pod>> {
    let one = (0..6_usize, 0..5_u32, 0..4_u32, 0..3_i64, "[xy]");
    proptest::collection::vec(one, 0..10).prop_map(|all| {
        let made = all
            .into_iter()
            .enumerate()
            .map(|(number, (on, gpus, cpus, priority, app))| {
                let asks = json!({"cpu": cpus.to_string(), "nvidia.com/gpu": gpus.to_string()});
                let extra =
                    json!({"metadata": {"labels": {"app": app}}, "spec": {"priority": priority}});
                running(&format!("q{number}"), &format!("n{on}"), asks, extra)
            });
        made.collect()
    })
}

fn wanted() -> impl Strategy<Value = Pod> {
    (0..5_u32, 0..9_u32, 0..3_i64, 0..4_u8).prop_map(|(gpus, cpus, priority, kind)| {
        let asks = json!({"cpu": cpus.to_string(), "nvidia.com/gpu": gpus.to_string()});
        let by = json!({"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "topology.kubernetes.io/zone"});
        let terms = json!({"requiredDuringSchedulingIgnoredDuringExecution": [by]});
        let more = match kind {
            0 => json!({"affinity": {"podAntiAffinity": terms}}),
            1 => json!({"affinity": {"podAffinity": terms}}),
            2 => json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "x"}}}]}),
            _ => json!({}),
        };
        let mut extra = json!({"spec": {"priority": priority}, "metadata": {"labels": {"app": "x"}}});
        merge(&mut extra, json!({"spec": more}));
        pod("p", asks, extra)
    })
}

proptest! {
    #[test]
    fn the_order_of_objects_does_not_change_what_is_said(nodes in nodes(), pods in pods(), wanted in wanted()) {
        let turned = Case {
            nodes: nodes.iter().rev().cloned().collect(),
            pods: pods.iter().rev().cloned().collect(),
            ..Case::default()
        };
        let case = Case { nodes, pods, ..Case::default() };
        let (one, other) = (case.verdict(&wanted), turned.verdict(&wanted));
        prop_assert_eq!(one.sentence, other.sentence);
        prop_assert_eq!(one.state, other.state);
        let names = |verdict: &[NodeVerdict]| verdict.iter().map(|one| one.node.clone()).collect::<Vec<_>>();
        prop_assert_eq!(names(&one.nodes), names(&other.nodes));
        prop_assert_eq!(one.preemptable, other.preemptable);
    }

    #[test]
    fn more_room_never_leaves_out_a_node_that_was_not(
        nodes in nodes(), pods in pods(), wanted in wanted(), at in 0..6_usize, more in 1..9_i64,
    ) {
        let before = Case { nodes: nodes.clone(), pods: pods.clone(), ..Case::default() }.verdict(&wanted);
        let mut roomier = nodes;
        let at = at % roomier.len();
        for (name, amount) in [("cpu", more * 1000), ("nvidia.com/gpu", more), ("pods", more)] {
            let own = &mut roomier[at].status.allocatable;
            let has = own.of(name);
            own.set(name, has + amount);
        }
        let after = Case { nodes: roomier, pods, ..Case::default() }.verdict(&wanted);
        for (one, other) in before.nodes.iter().zip(&after.nodes) {
            prop_assert!(!one.reasons.is_empty() || other.reasons.is_empty(), "{:?} {:?}", one, other);
        }
        if before.state == State::Fits {
            prop_assert_eq!(after.state, State::Fits);
        }
    }

    /// Each node that is left out is counted for each of its reasons.
    #[test]
    fn the_sentence_counts_every_node(nodes in nodes(), pods in pods(), wanted in wanted()) {
        let verdict = Case { nodes, pods, ..Case::default() }.verdict(&wanted);
        if verdict.state == State::Unschedulable {
            let reasons: usize = verdict.histogram().values().sum();
            prop_assert!(reasons >= verdict.nodes.len());
            let start = format!("0/{} nodes are available: ", verdict.nodes.len());
            prop_assert!(verdict.sentence.starts_with(&start), "{}", verdict.sentence);
        }
    }
}
