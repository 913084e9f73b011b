//! HAMi as it stands: its release, its webhook, its monitor, its cards, and whether its pods could have been seen.

use super::state::unique;
use crate::facts::cluster::Webhook;
use crate::facts::kube::{Container, HelmRelease, Pod, Workload};
use crate::facts::{Fact, Facts, scheduling};
use crate::model::state::{Hami, HamiCard, HamiRelease, HamiSetting, HamiWebhook};

/// Resources that only HAMi's scheduler serves.
const RESOURCES: [&str; 3] = ["gpumem", "gpumem-percentage", "gpucores"];

/// None where nothing of HAMi was seen, and no pod asks for what it serves.
pub(super) fn build(facts: &Facts) -> Option<Hami> {
    let pods = facts.table::<Pod>();
    let workloads = facts.table::<Workload>();
    let is_part = |component: &str| component.starts_with("hami");
    let running = workloads.iter().any(|one| is_part(&one.data.component))
        || pods.iter().any(|one| is_part(&one.data.component));
    let hami = Hami {
        settings: unique(facts.table::<HamiSetting>()),
        cards: facts
            .table::<scheduling::HamiCard>()
            .iter()
            .map(card)
            .collect(),
        releases: releases(facts),
        webhooks: webhooks(facts),
        webhooks_listed: !facts.table::<Webhook>().is_empty(),
        monitors: monitors(facts),
        pods_listed: pods.len() as u64,
        asked_for: pods.iter().filter(|pod| asks(&pod.data)).count() as u64,
    };
    let seen = running
        || hami.asked_for > 0
        || !(hami.settings.is_empty()
            && hami.cards.is_empty()
            && hami.releases.is_empty()
            && hami.webhooks.is_empty());
    seen.then_some(hami)
}

fn asks(pod: &Pod) -> bool {
    pod.extended.keys().any(|name| {
        let resource = name.rsplit('/').next();
        resource.is_some_and(|resource| RESOURCES.contains(&resource))
    })
}

fn releases(facts: &Facts) -> Vec<HamiRelease> {
    let releases = facts.table::<HelmRelease>().iter();
    let own = releases.filter(|one| one.data.chart.contains("hami"));
    own.map(|release| HamiRelease {
        name: format!("{}/{}", release.data.namespace, release.data.name),
        version: release.data.version.clone(),
        status: release.data.status.clone(),
        place: release.place.clone(),
    })
    .collect()
}

fn webhooks(facts: &Facts) -> Vec<HamiWebhook> {
    let webhooks = facts.table::<Webhook>().iter();
    // Its name is that of the project's domain, in releases before 2.3 the former one.
    let own = webhooks.filter(|one| one.data.name.starts_with("vgpu."));
    own.map(|webhook| HamiWebhook {
        name: webhook.data.name.clone(),
        failure_policy: webhook.data.failure_policy.clone(),
        place: webhook.place.clone(),
    })
    .collect()
}

/// Containers of the monitor: those that run, and all.
fn monitors(facts: &Facts) -> (u64, u64) {
    let containers = facts.table::<Container>().iter();
    let own = containers.filter(|one| {
        one.data.component == "hami-device-plugin" && one.data.name.contains("monitor")
    });
    own.fold((0, 0), |(running, all), one| {
        (running + u64::from(one.data.state == "running"), all + 1)
    })
}

fn card(fact: &Fact<scheduling::HamiCard>) -> HamiCard {
    let data = &fact.data;
    HamiCard {
        node: data.node.clone(),
        uuid: data.uuid.clone(),
        kind: data.kind.clone(),
        healthy: data.healthy,
        slots: data.slots,
        slots_held: data.slots_held,
        memory_mib: data.memory,
        memory_held_mib: data.memory_held,
        cores: data.cores,
        cores_held: data.cores_held,
        holders: data.holders.clone(),
        place: Some(fact.place.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{AnyFact, FactType};
    use crate::model::Place;

    fn add<T: FactType>(facts: &mut Facts, data: T) {
        let place = Place {
            path: "x".into(),
            line: Some(1),
        };
        let text = String::new();
        let at = None;
        facts.add(AnyFact::new(Fact {
            place,
            text: text.into(),
            at,
            data,
        }));
    }

    fn pod(resource: &str) -> Pod {
        Pod {
            name: "train".into(),
            extended: [(resource.to_owned(), "1".to_owned())].into(),
            ..Pod::default()
        }
    }

    #[test]
    fn pods_that_ask_for_memory_of_a_card_and_a_failed_release_show_hami_although_none_of_it_runs()
    {
        let mut facts = Facts::default();
        add(&mut facts, pod("nvidia.com/gpu"));
        assert_eq!(build(&facts), None, "a whole card needs no HAMi");
        add(&mut facts, pod("nvidia.com/gpumem"));
        let hami = build(&facts).unwrap();
        assert_eq!((hami.asked_for, hami.pods_listed), (1, 2));
        assert!(!hami.webhooks_listed);
        let release = HelmRelease {
            name: "hami".into(),
            chart: "hami".into(),
            status: "failed".into(),
            ..HelmRelease::default()
        };
        let mut only = Facts::default();
        add(&mut only, release);
        let hami = build(&only).unwrap();
        assert_eq!(hami.releases[0].status, "failed");
        assert_eq!(
            hami.pods_listed, 0,
            "that none was read does not say that none is there"
        );
    }
}
