//! The statistics on fleets of which the truth is known.

use super::*;

/// A small generator of numbers that repeat.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }
}

/// A fleet: clusters of nodes; each node's values, and whether it is sick.
struct Fleet {
    cluster: Vec<usize>,
    values: Vec<Vec<u64>>,
    sick: Vec<bool>,
}

const SETTINGS: usize = 60;

/// Drivers go with clusters, and so does the fault, without one causing the other.
fn random(dice: &mut Dice) -> Fleet {
    let clusters = 20;
    let favourites: Vec<Vec<u64>> = (0..clusters)
        .map(|_| (0..SETTINGS).map(|_| dice.roll(4)).collect())
        .collect();
    let rates: Vec<u64> = (0..clusters).map(|_| dice.roll(40)).collect();
    let mut fleet = Fleet {
        cluster: vec![],
        values: vec![],
        sick: vec![],
    };
    for node in 0..1000 {
        let cluster = node % clusters;
        let own = (0..SETTINGS).map(|setting| {
            if dice.roll(10) < 7 {
                favourites[cluster][setting]
            } else {
                dice.roll(4)
            }
        });
        fleet.values.push(own.collect());
        fleet.cluster.push(cluster);
        fleet.sick.push(dice.roll(100) < rates[cluster]);
    }
    fleet
}

fn comparisons(fleet: &Fleet) -> Vec<Comparison> {
    let mut all = Vec::new();
    for setting in 0..SETTINGS {
        for value in 0..4 {
            let mut strata: BTreeMap<usize, Stratum> = BTreeMap::new();
            for node in 0..fleet.sick.len() {
                let stratum = strata.entry(fleet.cluster[node]).or_default();
                let with = fleet.values[node][setting] == value;
                stratum.units += 1;
                stratum.sick += u64::from(fleet.sick[node]);
                stratum.with += u64::from(with);
                stratum.both += u64::from(with && fleet.sick[node]);
            }
            all.push(Comparison {
                cause: "c".to_owned(),
                value: Value {
                    kind: "sysctl".to_owned(),
                    name: setting.to_string(),
                    value: value.to_string(),
                },
                strata: strata.into_values().collect(),
                of: Unit::Nodes,
            });
        }
    }
    all
}

#[test]
fn no_random_fleet_has_a_finding_although_faults_and_settings_go_by_cluster() {
    let mut dice = Dice(7);
    for fleet in 0..20 {
        let (found, tests) = findings(&comparisons(&random(&mut dice)), Threshold::default());
        assert!(tests > 100);
        assert!(found.is_empty(), "fleet {fleet}: {found:?}");
    }
}

#[test]
fn a_value_that_makes_nodes_sick_is_found_and_no_other() {
    let mut dice = Dice(11);
    let mut fleet = random(&mut dice);
    for node in 0..fleet.sick.len() {
        let rate = if fleet.values[node][17] == 2 { 30 } else { 4 };
        fleet.sick[node] = dice.roll(100) < rate;
    }
    let (found, _) = findings(&comparisons(&fleet), Threshold::default());
    let names: Vec<_> = found
        .iter()
        .map(|one| (&*one.value.name, &*one.value.value))
        .collect();
    assert_eq!(names, [("17", "2")]);
    assert!(found[0].lift > 1.8 && found[0].between.0 > 1.0, "{found:?}");
}

#[test]
fn chances_are_those_of_the_textbook() {
    // Fisher's tea: all 4 of 4 cups right among 8 is 1 in 70.
    let tea = Stratum {
        units: 8,
        sick: 4,
        with: 4,
        both: 4,
    };
    assert!((at_least(&[tea], 4) - 1.0 / 70.0).abs() < 1e-9);
    assert!((at_least(&[tea], 0) - 1.0).abs() < 1e-9);
    // Two such draws at once.
    assert!((at_least(&[tea, tea], 8) - 1.0 / 4900.0).abs() < 1e-9);
}

#[test]
fn what_a_whole_cluster_shares_says_nothing_of_its_nodes() {
    let all_have_it = Stratum {
        units: 50,
        sick: 20,
        with: 50,
        both: 20,
    };
    let none_has_it = Stratum {
        units: 50,
        sick: 0,
        with: 0,
        both: 0,
    };
    let one = Comparison {
        cause: "c".into(),
        value: Value {
            kind: "driver".into(),
            name: "version".into(),
            value: "1".into(),
        },
        strata: vec![all_have_it, none_has_it],
        of: Unit::Nodes,
    };
    assert_eq!(findings(&[one], Threshold::default()), (vec![], 0));
}
