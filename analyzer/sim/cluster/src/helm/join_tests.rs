//! Which release an object belongs to, and what goes through custom resources and settings of known charts.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::owner::{Belongs, How, Marked, Named, Objects};
use super::{Seen, custom, drifts, labels, settings};
use crate::flat::Flat;

fn pairs(list: &[(&str, &str)]) -> Flat<String, String> {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    list.iter().map(owned).collect()
}

fn object(kind: &str, name: &str) -> Marked {
    Marked {
        kind: kind.to_owned(),
        namespace: "gpu".to_owned(),
        name: name.to_owned(),
        ..Marked::default()
    }
}

fn owned_by(mut object: Marked, kind: &str, name: &str) -> Marked {
    object.owners.push((kind.to_owned(), name.to_owned()));
    object
}

fn annotated(mut object: Marked, name: &str, namespace: &str) -> Marked {
    object.annotations = pairs(&[
        ("meta.helm.sh/release-name", name),
        ("meta.helm.sh/release-namespace", namespace),
    ]);
    object
}

fn labelled(mut object: Marked, labels: &[(&str, &str)]) -> Marked {
    object.labels = pairs(labels);
    object
}

fn release(namespace: &str, name: &str, chart: &str) -> Named {
    Named {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        chart: chart.to_owned(),
    }
}

fn of(object: &Marked, others: &[Marked], releases: &[Named]) -> Belongs {
    Objects::new(others.iter()).release_of(object, releases)
}

#[test]
fn marks_of_helm_and_of_charts_name_the_release() {
    let releases = [
        release("gpu", "op", "gpu-operator"),
        release("gpu", "nvdp", "nvidia-device-plugin"),
        release("old", "op", "gpu-operator"),
    ];
    let plain = || object("daemonset", "x");
    let managed = ("app.kubernetes.io/managed-by", "Helm");
    for (one, belongs) in [
        (
            annotated(plain(), "op", "old"),
            Belongs::To(2, How::Annotation),
        ),
        (
            labelled(plain(), &[managed, ("app.kubernetes.io/instance", "nvdp")]),
            Belongs::To(1, How::Label),
        ),
        (
            labelled(plain(), &[("heritage", "Tiller"), ("release", "op")]),
            Belongs::To(0, How::Legacy),
        ),
        (
            labelled(plain(), &[("helm.sh/chart", "gpu-operator-v25.3.0")]),
            Belongs::To(0, How::Chart),
        ),
        // Another chart whose name begins alike.
        (
            labelled(plain(), &[("helm.sh/chart", "gpu-operator-crds-1.0.0")]),
            Belongs::Unknown,
        ),
        (annotated(plain(), "gone", "gpu"), Belongs::Elsewhere),
        // An instance label alone is set by other tools, too.
        (
            labelled(plain(), &[("app.kubernetes.io/instance", "op")]),
            Belongs::Unknown,
        ),
        (plain(), Belongs::Unknown),
    ] {
        assert_eq!(of(&one, &[], &releases), belongs, "{one:?}");
    }
}

#[test]
fn owners_lead_from_a_pod_to_the_release_whose_resource_an_operator_serves() {
    let releases = [release("gpu", "op", "gpu-operator")];
    let mut policy = annotated(object("clusterpolicy", "cluster-policy"), "op", "gpu");
    policy.namespace.clear();
    let others = [
        policy,
        owned_by(
            object("daemonset", "toolkit"),
            "clusterpolicy",
            "cluster-policy",
        ),
        annotated(object("deployment", "gpu-operator"), "op", "gpu"),
    ];
    let pod = owned_by(object("pod", "toolkit-abc"), "daemonset", "toolkit");
    let through = Belongs::To(0, How::Owner);
    assert_eq!(of(&pod, &others, &releases), through);
    assert_eq!(
        of(&others[1], &[], &releases),
        through,
        "the resource was not captured, and one release of the chart is there"
    );
    let two = [
        release("gpu", "op", "gpu-operator"),
        release("b", "op2", "gpu-operator"),
    ];
    assert_eq!(of(&others[1], &[], &two), Belongs::Unknown);
    let replica = owned_by(
        object("pod", "gpu-operator-6f7-x"),
        "replicaset",
        "gpu-operator-6f7",
    );
    assert_eq!(of(&replica, &others, &releases), through);
}

#[test]
fn a_resource_that_differs_from_the_values_is_named_leaf_by_leaf() {
    let values = json!({"mig": {"strategy": "mixed"}, "cdi": {"enabled": true}, "driver": {"version": "", "x": 1},
        "toolkit": {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "C", "value": "3"}]},
        "daemonsets": {"rollingUpdate": {"maxUnavailable": 1}}});
    let spec = json!({"mig": {"strategy": "single"}, "cdi": {"enabled": true}, "driver": {"version": "570"},
        "toolkit": {"env": [{"name": "A", "value": "9"}, {"name": "C", "value": "<not collected>"}]},
        "daemonsets": {"rollingUpdate": {"maxUnavailable": "1"}}});
    let found = custom::drifts(&values, &spec, "", "clusterpolicy/cluster-policy");
    let told: Vec<(&str, &str, &str)> = found
        .iter()
        .map(|one| (one.value.as_str(), one.expected.as_str(), one.seen.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("mig.strategy", "mixed", "single"),
            ("toolkit.env[A]", "1", "9"),
            ("toolkit.env[B]", "2", "not set"),
        ]
    );
}

fn plugin(workload: &str) -> Seen {
    Seen {
        workload: format!("daemonset/gpu/{workload}"),
        container: "ctr".to_owned(),
        image: "nvcr.io/nvidia/k8s-device-plugin:v1".to_owned(),
        env: Some(Flat::from([(
            "MIG_STRATEGY".to_owned(),
            Some("single".to_owned()),
        )])),
        args: Some(Vec::new()),
        config_maps: vec!["other".to_owned()],
        ..Seen::default()
    }
}

#[test]
fn settings_that_a_chart_hands_on_under_another_name_are_compared() {
    let values = json!({"mig": {"strategy": "mixed"}, "devicePlugin": {"config": {"name": "time-slicing"}},
        "daemonsets": {"tolerations": [{"key": "gpu", "operator": "Exists"}]}});
    let seen = [
        plugin("nvidia-device-plugin-daemonset"),
        plugin("somebody-elses"),
    ];
    let told = |seen: &[Seen]| -> Vec<String> {
        let found = settings::drifts("gpu-operator", &values, seen);
        found
            .iter()
            .map(|one| format!("{} {} {}", one.kind, one.value, one.seen))
            .collect()
    };
    assert_eq!(
        told(&seen),
        [
            "env mig.strategy single",
            "config-map devicePlugin.config.name not set",
            "toleration daemonsets.tolerations not set",
        ]
    );
    assert!(told(&seen[1..]).is_empty());
    let alone = json!({"migStrategy": "none", "deviceListStrategy": null, "config": {"name": ""}});
    let found = settings::drifts("nvidia-device-plugin", &alone, &seen[1..]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn operands_that_are_off_and_there_or_on_and_missing_are_told_once_any_is_there() {
    let values = json!({"driver": {"enabled": false}, "toolkit": {"enabled": true}, "dcgm": {"enabled": false},
        "devicePlugin": {"enabled": true}});
    let names = [
        "nvidia-driver-daemonset-6.8.0",
        "nvidia-device-plugin-daemonset",
        "nvidia-dcgm-exporter",
    ];
    let names: Vec<String> = names
        .iter()
        .map(|one| format!("daemonset/gpu/{one}"))
        .collect();
    let told = |names: &[String]| -> Vec<(&str, String)> {
        let found = settings::operands(&values, names);
        found.into_iter().map(|one| (one.kind, one.value)).collect()
    };
    let wanted = [
        ("disabled", "driver.enabled"),
        ("absent", "toolkit.enabled"),
    ];
    assert_eq!(
        told(&names),
        wanted.map(|(kind, value)| (kind, value.to_owned()))
    );
    assert!(told(&[]).is_empty(), "nothing is made yet");
}

#[test]
fn labels_of_nodes_count_where_the_operator_is_in_charge() {
    let values = json!({"driver": {"version": "570.1"}, "mig": {"strategy": "single"}});
    let told = |labels: &[(&str, &str)]| -> Vec<String> {
        let labels = pairs(labels).into_iter().collect();
        let found = labels::drifts("gpu-operator", &values, [("n1", &labels)].into_iter());
        found
            .iter()
            .map(|one| format!("{} {} {}", one.value, one.seen, one.places[0]))
            .collect()
    };
    let version = ("nvidia.com/cuda.driver-version.full", "535.9");
    assert_eq!(
        told(&[version, ("nvidia.com/gpu.deploy.driver", "true")]),
        ["driver.version 535.9 node/n1"]
    );
    assert!(told(&[version, ("nvidia.com/gpu.deploy.driver", "pre-installed")]).is_empty());
    assert!(told(&[version]).is_empty());
}

#[test]
fn a_shared_image_is_told_apart_by_the_workloads_names_and_classes_are_compared() {
    let values = json!({"devicePlugin": {"image": "projecthami/hami", "imageTag": "v2.5", "runtimeClassName": "nvidia"},
        "scheduler": {"extender": {"image": "docker.io/projecthami/hami", "imageTag": "v2.5", "runtimeClassName": "x"}}});
    let mut seen = plugin("hami-device-plugin");
    seen.image = "docker.io/projecthami/hami:v2.5".to_owned();
    let found = drifts(&values, &[seen.clone()]);
    let told: Vec<(&str, &str, &str)> = found
        .iter()
        .map(|one| (one.kind, one.value.as_str(), one.seen.as_str()))
        .collect();
    assert_eq!(
        told,
        [("runtime-class", "devicePlugin.runtimeClassName", "not set")]
    );
    seen.runtime_class = Some("nvidia".to_owned());
    assert!(drifts(&values, &[seen]).is_empty());
}

fn marked() -> impl Strategy<Value = Marked> {
    let kind = prop::sample::select(vec!["pod", "replicaset", "deployment", "clusterpolicy"]);
    let name = prop::sample::select(vec!["a", "b", "a-1", ""]);
    let space = prop::sample::select(vec!["", "n", "m"]);
    let key = prop::sample::select(vec![
        "meta.helm.sh/release-name",
        "meta.helm.sh/release-namespace",
        "app.kubernetes.io/managed-by",
        "app.kubernetes.io/instance",
        "heritage",
        "release",
        "helm.sh/chart",
    ]);
    let value = prop::sample::select(vec!["a", "b", "n", "m", "Helm", "c-1.0", ""]);
    let marks = prop::collection::btree_map(
        key.prop_map(str::to_owned),
        value.prop_map(str::to_owned),
        0..4,
    );
    let owners = prop::collection::vec((kind.clone(), name.clone()), 0..3);
    (kind, name, space, marks.clone(), marks, owners).prop_map(
        |(kind, name, namespace, labels, annotations, owners)| Marked {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            labels: labels.into_iter().collect(),
            annotations: annotations.into_iter().collect(),
            owners: owners
                .into_iter()
                .map(|(kind, name)| (kind.to_owned(), name.to_owned()))
                .collect(),
        },
    )
}

/// Values with the shapes that are looked for, and others.
fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..9i64).prop_map(Value::from),
        prop::sample::select(vec!["", "a", "r/app", "v1", "1Gi"]).prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "image",
        "repository",
        "tag",
        "imageTag",
        "enabled",
        "env",
        "name",
        "value",
        "args",
        "tolerations",
        "key",
        "resources",
        "limits",
        "memory",
        "nodeSelector",
        "driver",
        "toolkit",
        "mig",
        "strategy",
    ]);
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|list| {
                let owned = list.into_iter().map(|(key, value)| (key.to_owned(), value));
                Value::Object(owned.collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn owners_in_circles_end_and_an_objects_own_mark_overrules_its_owners(
        objects in prop::collection::vec(marked(), 1..8)
    ) {
        let releases = [release("n", "a", "c"), release("m", "b", "gpu-operator")];
        let index = Objects::new(objects.iter());
        for one in &objects {
            let belongs = index.release_of(one, &releases);
            if let Belongs::To(at, how) = belongs {
                prop_assert!(at < releases.len());
                if let Some(name) = one.annotations.get("meta.helm.sh/release-name") {
                    prop_assert_eq!(how, How::Annotation);
                    prop_assert_eq!(name, &releases[at].name);
                }
            }
            // Marks of others do not count for one that names its release.
            if one.annotations.contains_key("meta.helm.sh/release-name") {
                prop_assert_eq!(belongs, of(one, &[], &releases));
            }
        }
    }

    #[test]
    fn a_resource_filled_from_the_values_shows_them_all(values in tree()) {
        prop_assert!(custom::drifts(&values, &values, "", "x").is_empty());
    }

    #[test]
    fn any_values_are_compared_without_a_panic_and_each_difference_has_two_sides(
        values in tree(), spec in tree()
    ) {
        let seen = [plugin("nvidia-device-plugin-daemonset")];
        let mut found = drifts(&values, &seen);
        found.extend(settings::drifts("gpu-operator", &values, &seen));
        found.extend(custom::drifts(&values, &spec, "", "x"));
        for one in found {
            prop_assert_ne!(&one.expected, &one.seen, "{}", one.value);
        }
    }
}
