//! HAMi's accounting against the tables of its own tests (`pkg/device/nvidia/device_test.go`).

use serde_json::{Value, json};

use super::{Defaults, allocated, asks, devices, place};
use crate::scheduling::State;
use crate::scheduling::api::Pod;
use crate::scheduling::tests::{Case, gpu, merge, node, pod, running};

const OLD: &str = "GPU-1,10,24564,100,NVIDIA-NVIDIA GeForce RTX 4090,0,true:GPU-2,10,24564,100,NVIDIA-NVIDIA GeForce RTX 4090,0,true:";

fn share(limits: Value, annotations: Value) -> Pod {
    let mut all = json!({"nvidia.com/gpu": "1"});
    merge(&mut all, limits);
    pod(
        "p",
        all,
        json!({"metadata": {"annotations": annotations}, "spec": {"schedulerName": "hami-scheduler"}}),
    )
}

#[test]
fn all_encodings_of_a_nodes_cards_read_alike() {
    let old = devices(OLD).unwrap();
    let nine =
        devices("GPU-1,10,24564,100,NVIDIA-NVIDIA GeForce RTX 4090,0,true,1,hami-core:").unwrap();
    let json = devices(r#"[{"id":"GPU-1","index":1,"count":10,"devmem":24564,"devcore":100,"type":"NVIDIA-NVIDIA GeForce RTX 4090","mode":"hami-core","health":true},{"id":"GPU-3","count":10,"devmem":24564,"devcore":100,"type":"NVIDIA"}]"#).unwrap();
    assert_eq!(old.len(), 2);
    assert_eq!(nine[0], json[0]);
    assert!(!json[1].health, "the JSON form leaves out false");
    assert_eq!(
        (old[0].devmem, old[0].count, old[0].health),
        (24564, 10, true)
    );
    for broken in ["", "[]", "[{]", "GPU-1,x,1,1,t,0,true:", "GPU-1,1:"] {
        assert!(devices(broken).is_err(), "{broken}");
    }
}

/// A card of 1280 MiB in ten shares, of which so much is held.
fn held(used: i64, memory: i64, cores: i64) -> Vec<super::Card> {
    let mut cards = devices("GPU-1,10,1280,100,NVIDIA-A,0,true:").unwrap();
    (cards[0].used, cards[0].used_memory, cards[0].used_cores) = (used, memory, cores);
    cards
}

fn asked(memory: i64, cores: i64) -> Value {
    json!({"nvidia.com/gpumem": memory, "nvidia.com/gpucores": cores})
}

fn refusal(cards: &[super::Card], pod: &Pod) -> String {
    let refused = place(
        cards,
        &asks(pod, Defaults::default()),
        &pod.metadata.annotations,
    );
    refused.unwrap_err().to_string()
}

#[test]
fn cards_that_are_held_refuse_in_hamis_words_and_order() {
    for (cards, limits, reason) in [
        (held(10, 0, 0), asked(512, 50), "CardTimeSlicingExhausted"),
        (held(1, 1000, 0), asked(512, 0), "CardInsufficientMemory"),
        (held(1, 0, 60), asked(512, 50), "CardInsufficientCore"),
        (
            held(1, 0, 0),
            asked(512, 100),
            "ExclusiveDeviceAllocateConflict",
        ),
        (held(1, 0, 100), asked(512, 0), "CardComputeUnitsExhausted"),
        (held(1, 100, 0), json!({}), "CardInsufficientMemory"),
        (
            held(0, 0, 0),
            json!({"nvidia.com/gpu": "2"}),
            "NodeInsufficientDevice",
        ),
    ] {
        let refused = refusal(&cards, &share(limits, json!({})));
        assert!(refused.starts_with(&format!("1/1 {reason}: ")), "{refused}");
    }
    let small = json!({"nvidia.com/gpumem-percentage": 10});
    for limits in [asked(512, 120), small, asked(1280, 0)] {
        let pod = share(limits, json!({}));
        assert!(
            place(
                &held(0, 0, 0),
                &asks(&pod, Defaults::default()),
                &pod.metadata.annotations
            )
            .is_ok()
        );
    }
}

#[test]
fn annotations_of_the_pod_choose_cards_by_uuid_and_type() {
    for (annotation, value, reason) in [
        ("nvidia.com/use-gpuuuid", "GPU-9", Some("CardUuidMismatch")),
        (
            "nvidia.com/nouse-gpuuuid",
            "GPU-1",
            Some("CardUuidMismatch"),
        ),
        (
            "nvidia.com/use-gputype",
            "h100,L40",
            Some("CardTypeMismatch"),
        ),
        (
            "nvidia.com/nouse-gputype",
            "nvidia-a",
            Some("CardTypeMismatch"),
        ),
        ("nvidia.com/use-gpuuuid", "GPU-7,GPU-1", None),
        ("nvidia.com/use-gputype", "h100,nvidia-a", None),
    ] {
        let pod = share(asked(512, 0), json!({annotation: value}));
        let placed = place(
            &held(0, 0, 0),
            &asks(&pod, Defaults::default()),
            &pod.metadata.annotations,
        );
        let refused = placed.err().map(|refused| refused.to_string());
        let word = refused
            .as_deref()
            .and_then(|text| text.split([' ', ':']).nth(1));
        assert_eq!(word, reason, "{annotation}={value}");
    }
}

#[test]
fn a_pod_that_fits_no_card_is_told_with_numbers_and_holders() {
    let annotated =
        |annotations: Value| node("g", 20, json!({"metadata": {"annotations": annotations}}));
    let holder = |name: &str, held: &str| {
        running(
            name,
            "g",
            gpu(1),
            json!({"metadata": {"annotations": {"hami.io/vgpu-node": "g", "hami.io/vgpu-devices-allocated": held}}}),
        )
    };
    let case = Case {
        nodes: vec![annotated(json!({"hami.io/node-nvidia-register": OLD}))],
        pods: vec![
            holder("a", "GPU-1,NVIDIA,20000,30:;"),
            holder("b", "GPU-2,NVIDIA,20000,30:GPU-1,NVIDIA,1000,0:;"),
        ],
        ..Case::default()
    };
    let wants = share(json!({"nvidia.com/gpumem": "5k"}), json!({}));
    let verdict = case.verdict(&wants);
    assert_eq!(verdict.state, State::Unschedulable);
    let detail = &verdict.nodes[0].reasons[0].detail;
    assert!(
        detail.starts_with(
            "2/2 CardInsufficientMemory: container main asks for 1 vGPU with 5000 MiB"
        ),
        "{detail}"
    );
    assert!(
        detail.contains("has 24564 MiB") && detail.contains("held by ml/"),
        "{detail}"
    );
    let small = share(json!({"nvidia.com/gpumem": "4000"}), json!({}));
    assert_eq!(case.verdict(&small).state, State::Fits);
    let stale = Case {
        nodes: vec![annotated(
            json!({"hami.io/node-nvidia-register": OLD, "hami.io/node-handshake": "Deleted_2025.01.01"}),
        )],
        ..Case::default()
    };
    assert!(
        stale
            .verdict(&small)
            .sentence
            .starts_with("0/1 nodes are available: 1 node unregistered.")
    );
}

#[test]
fn what_a_container_does_not_state_is_filled_in_from_hamis_settings() {
    let defaults = Defaults {
        memory: 4000,
        cores: 30,
    };
    let ask = |limits: Value| asks(&share(limits, json!({})), defaults).remove(0);
    let bare = ask(json!({}));
    assert_eq!((bare.memory, bare.percent, bare.cores), (4000, None, 30));
    let percent = ask(json!({"nvidia.com/gpumem-percentage": 50, "nvidia.com/gpucores": 10}));
    assert_eq!(
        (percent.memory, percent.percent, percent.cores),
        (0, Some(50), 10)
    );
    let whole = asks(&share(json!({}), json!({})), Defaults::default());
    assert_eq!(whole[0].percent, Some(100));
}

proptest::proptest! {
    #[test]
    fn no_annotation_makes_the_readers_panic(text in "[A-Za-z0-9,:;\\[\\]{}\" -]{0,80}|\\PC{0,30}") {
        let _ = (devices(&text), allocated(&text));
    }

    #[test]
    fn no_numbers_make_the_accounting_panic(numbers in proptest::collection::vec(proptest::num::i64::ANY, 5), asked in 0..i64::MAX) {
        let text = format!("G,{},{},{},t,0,true:", numbers[0], numbers[1], numbers[2]);
        let mut cards = devices(&text).unwrap();
        let held = format!("G,NVIDIA,{},{}:;", numbers[3], numbers[4]);
        for share in allocated(&held).into_iter().flatten() {
            cards[0].take(&share, "a/b");
        }
        for key in ["nvidia.com/gpumem", "nvidia.com/gpumem-percentage", "nvidia.com/gpucores"] {
            let pod = share(json!({key: asked}), json!({}));
            let _ = place(&cards, &asks(&pod, Defaults::default()), &pod.metadata.annotations);
        }
    }
}
