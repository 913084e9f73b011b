//! On which cards a pod's containers fit, card by card as HAMi tries them.

use std::collections::BTreeMap;
use std::fmt;

use super::card::{Card, Share};
use crate::scheduling::api::{Container, Labels, Pod};

/// What one container asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ask {
    /// Container.
    pub container: String,
    /// Cards (vGPUs).
    pub cards: i64,
    /// Memory of each in MiB; 0 where a percentage stands instead.
    pub memory: i64,
    /// Memory of each in percent; only where no MiB are asked for.
    pub percent: Option<i64>,
    /// Cores of each in percent.
    pub cores: i64,
}

/// Why a node's cards do not do: how many of them for which reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Container that found no place.
    pub ask: Ask,
    /// Cards of the node.
    pub cards: usize,
    /// HAMi's reason, and how many cards it keeps out.
    pub reasons: BTreeMap<&'static str, usize>,
    /// The card that came closest, in numbers.
    pub closest: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<String> = self
            .reasons
            .iter()
            .map(|(reason, count)| format!("{count}/{} {reason}", self.cards))
            .collect();
        write!(
            out,
            "{}: container {} asks for {}",
            counts.join(", "),
            self.ask.container,
            self.ask
        )?;
        if self.closest.is_empty() {
            return Ok(());
        }
        write!(out, "; {}", self.closest)
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} vGPU", self.cards)?;
        match self.percent {
            Some(percent) => write!(out, " with {percent} % of a card's memory")?,
            None => write!(out, " with {} MiB", self.memory)?,
        }
        if self.cores > 0 {
            write!(out, " and {} % of its cores", self.cores)?;
        }
        Ok(())
    }
}

/// What HAMi's scheduler fills in for containers that ask for a card and state no more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Defaults {
    /// Memory in MiB (`defaultMem`); 0 means the whole card.
    pub memory: i64,
    /// Cores in percent (`defaultCores`).
    pub cores: i64,
}

/// What the containers of a pod ask for.
pub fn asks(pod: &Pod, defaults: Defaults) -> Vec<Ask> {
    let containers = pod.spec.containers.iter();
    containers.filter_map(|one| ask(one, defaults)).collect()
}

fn ask(container: &Container, defaults: Defaults) -> Option<Ask> {
    let resources = &container.resources;
    let of = |name: &str| {
        let limit = resources.limits.get(name);
        limit.or_else(|| resources.requests.get(name))
    };
    let cards = of("nvidia.com/gpu").filter(|cards| *cards > 0)?;
    let stated = of("nvidia.com/gpumem-percentage");
    let memory = of("nvidia.com/gpumem").filter(|memory| *memory > 0);
    let memory = memory.unwrap_or(if stated.is_none() { defaults.memory } else { 0 });
    Some(Ask {
        container: container.name.clone(),
        cards,
        memory,
        percent: if memory > 0 {
            None
        } else {
            Some(stated.unwrap_or(100))
        },
        cores: of("nvidia.com/gpucores").unwrap_or(defaults.cores).min(100),
    })
}

impl Ask {
    /// Memory that it takes of a card, in MiB.
    fn memory_of(&self, card: &Card) -> i64 {
        match self.percent {
            Some(percent) => {
                let share = i128::from(card.devmem) * i128::from(percent) / 100;
                i64::try_from(share).unwrap_or(i64::MAX)
            }
            None => self.memory,
        }
    }
}

/// Finds cards for every container, taking each share off before the next is placed; gives the cards' UUIDs by
/// container.
///
/// # Errors
/// Gives the reasons of the first container that finds no place.
pub fn place(
    cards: &[Card],
    asks: &[Ask],
    annotations: &Labels,
) -> Result<Vec<Vec<String>>, Refused> {
    let mut cards = cards.to_vec();
    sort(&mut cards, annotations);
    let mut placed = Vec::new();
    for ask in asks {
        placed.push(place_one(&mut cards, ask, annotations)?);
    }
    Ok(placed)
}

/// Cards in the order of the pod's policy, the preferred last, since HAMi tries from the end.
fn sort(cards: &mut [Card], annotations: &Labels) {
    let binpack = annotations
        .get("hami.io/gpu-scheduler-policy")
        .is_some_and(|policy| policy == "binpack");
    cards.sort_by(|a, b| {
        let (a, b) = (load(a), load(b));
        if binpack { a.cmp(&b) } else { b.cmp(&a) }
    });
}

/// How much of a card is held, in hundredths of a percent of its slots, memory and cores together.
fn load(card: &Card) -> i64 {
    let part = |used: i64, total: i64| {
        let share = i128::from(used) * 10_000 / i128::from(total.max(1));
        i64::try_from(share).unwrap_or(i64::MAX / 4)
    };
    part(card.used, card.count)
        .saturating_add(part(card.used_memory, card.devmem))
        .saturating_add(part(card.used_cores, card.devcore))
}

fn place_one(cards: &mut [Card], ask: &Ask, annotations: &Labels) -> Result<Vec<String>, Refused> {
    let mut refused = Refused {
        ask: ask.clone(),
        cards: cards.len(),
        reasons: BTreeMap::new(),
        closest: String::new(),
    };
    let total = i64::try_from(cards.len()).unwrap_or(i64::MAX);
    if ask.cards > total {
        refused
            .reasons
            .insert("NodeInsufficientDevice", cards.len());
        refused.closest = format!("the node has {total} cards");
        return Err(refused);
    }
    let mut chosen = Vec::new();
    let numa_bound = flag(annotations, "nvidia.com/numa-bind");
    let mut numa = None;
    for at in (0..cards.len()).rev() {
        let card = &cards[at];
        let reason = against(card, ask, annotations);
        if let Some(reason) = reason {
            *refused.reasons.entry(reason).or_default() += 1;
            refused.closest = closest(card, ask, reason, refused.closest);
            continue;
        }
        if numa_bound && numa.is_some_and(|numa| numa != card.numa) {
            *refused.reasons.entry("NumaNotFit").or_default() += chosen.len();
            chosen.clear();
        }
        numa = Some(card.numa);
        chosen.push(at);
        if i64::try_from(chosen.len()).unwrap_or(i64::MAX) == ask.cards {
            return Ok(hold(cards, &chosen, ask));
        }
    }
    if !chosen.is_empty() {
        refused
            .reasons
            .insert("AllocatedCardsInsufficientRequest", chosen.len());
    }
    Err(refused)
}

fn flag(annotations: &Labels, key: &str) -> bool {
    let value = annotations.get(key).map(|value| value.to_ascii_lowercase());
    value.is_some_and(|value| matches!(value.as_str(), "true" | "t" | "1"))
}

fn hold(cards: &mut [Card], chosen: &[usize], ask: &Ask) -> Vec<String> {
    let mut ids = Vec::new();
    for at in chosen {
        let card = &mut cards[*at];
        let share = Share {
            uuid: card.id.clone(),
            memory: ask.memory_of(card),
            cores: ask.cores,
        };
        card.take(&share, &ask.container);
        ids.push(share.uuid);
    }
    ids
}

/// HAMi's reason against a card, in the order in which it looks.
fn against(card: &Card, ask: &Ask, annotations: &Labels) -> Option<&'static str> {
    let conditions = [
        (!card.health, "CardNotHealth"),
        (!type_allowed(card, annotations), "CardTypeMismatch"),
        (!uuid_allowed(card, annotations), "CardUuidMismatch"),
        (card.count <= card.used, "CardTimeSlicingExhausted"),
        (
            card.free_memory() < ask.memory_of(card),
            "CardInsufficientMemory",
        ),
        (card.free_cores() < ask.cores, "CardInsufficientCore"),
        (
            ask.cores == 100 && card.used > 0,
            "ExclusiveDeviceAllocateConflict",
        ),
        (
            card.devcore != 0 && card.used_cores == card.devcore && ask.cores == 0,
            "CardComputeUnitsExhausted",
        ),
    ];
    conditions
        .into_iter()
        .find(|(holds, _)| *holds)
        .map(|(_, reason)| reason)
}

fn type_allowed(card: &Card, annotations: &Labels) -> bool {
    let kind = card.kind.to_uppercase();
    let listed = |key: &str| {
        let list = annotations.get(key)?;
        Some(
            list.split(',')
                .any(|one| kind.contains(&one.to_uppercase())),
        )
    };
    let mode = annotations.get("nvidia.com/vgpu-mode");
    listed("nvidia.com/use-gputype").unwrap_or(true)
        && !listed("nvidia.com/nouse-gputype").unwrap_or(false)
        && mode.is_none_or(|mode| mode.contains(&card.mode))
}

fn uuid_allowed(card: &Card, annotations: &Labels) -> bool {
    let listed = |key: &str| {
        let list = annotations.get(key)?;
        Some(list.split(',').any(|one| one == card.id))
    };
    listed("nvidia.com/use-gpuuuid")
        .or_else(|| listed("nvidia.com/nouse-gpuuuid").map(|listed| !listed))
        .unwrap_or(true)
}

/// Numbers of a card that is short of something; the first that is found stands.
fn closest(card: &Card, ask: &Ask, reason: &str, before: String) -> String {
    if !before.is_empty() {
        return before;
    }
    let id = &card.id;
    let held = match card.holders.as_slice() {
        [] => String::new(),
        holders => format!(" by {}", holders.join(", ")),
    };
    match reason {
        "CardTimeSlicingExhausted" => {
            format!(
                "card {id} is split into {} shares, {} are held{held}",
                card.count, card.used
            )
        }
        "CardInsufficientMemory" => format!(
            "card {id} has {} MiB, {} are held{held}, {} are needed",
            card.devmem,
            card.used_memory,
            ask.memory_of(card)
        ),
        "CardInsufficientCore" | "CardComputeUnitsExhausted" => format!(
            "card {id} has {} % of cores, {} are held{held}",
            card.devcore, card.used_cores
        ),
        "ExclusiveDeviceAllocateConflict" => format!("card {id} is already used{held}"),
        "CardNotHealth" => format!("card {id} is registered as unhealthy"),
        "CardTypeMismatch" => format!("card {id} is a {}", card.kind),
        _ => String::new(),
    }
}
