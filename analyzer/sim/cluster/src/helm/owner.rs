//! Which release an object belongs to: Helm's annotations, the labels that charts set, and owner references up to an
//! object that carries either. Pure: marks of objects in, releases out.

use std::collections::BTreeMap;

use crate::flat::Flat;

/// Set by Helm itself, on every object that it makes.
const NAME: &str = "meta.helm.sh/release-name";
const NAMESPACE: &str = "meta.helm.sh/release-namespace";
/// Set by charts, each pair by those of its time.
const INSTANCE: &str = "app.kubernetes.io/instance";
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
const RELEASE: &str = "release";
const HERITAGE: &str = "heritage";
const CHART: &str = "helm.sh/chart";
const OLD_CHART: &str = "chart";

/// Whether a label or annotation of this key says whose an object is.
#[must_use]
pub fn is_mark(key: &str) -> bool {
    let annotations = [NAME, NAMESPACE];
    let labels = [INSTANCE, MANAGED_BY, RELEASE, HERITAGE, CHART, OLD_CHART];
    annotations.contains(&key) || labels.contains(&key)
}

/// What an object says of who made it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    /// Kind in lower case, e.g. `daemonset`.
    pub kind: String,
    /// Namespace; empty for objects of the whole cluster.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Labels, those that are [marks](is_mark) at least.
    pub labels: Flat<String, String>,
    /// Annotations, those that are [marks](is_mark) at least.
    pub annotations: Flat<String, String>,
    /// Kind (in lower case) and name of its owners.
    pub owners: Vec<(String, String)>,
}

/// A release, as far as objects name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Chart.
    pub chart: String,
}

/// What shows that an object is a release's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// `meta.helm.sh/release-name`, which Helm sets itself.
    Annotation,
    /// `app.kubernetes.io/instance` beside `managed-by: Helm`.
    Label,
    /// `release` beside `heritage: Helm`, of older charts.
    Legacy,
    /// `helm.sh/chart`, which names the chart of one release of the namespace alone.
    Chart,
    /// An owner of it is a release's.
    Owner,
}

impl How {
    /// The word that rules use.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Annotation => "annotation",
            Self::Label => "label",
            Self::Legacy => "legacy-label",
            Self::Chart => "chart-label",
            Self::Owner => "owner",
        }
    }
}

/// Whose an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Belongs {
    /// A known release's, by its index.
    To(usize, How),
    /// Of a release that was not captured.
    Elsewhere,
    /// Nothing says.
    Unknown,
}

/// Owners that are walked up at most: a pod, its replica set, a deployment and a custom resource are four.
const MOST_OWNERS: usize = 8;
/// Custom resources that the GPU Operator's chart makes and its operator serves.
const OPERATORS: [&str; 2] = ["clusterpolicy", "nvidiadriver"];

/// The objects that were captured, by kind, namespace and name.
#[derive(Debug, Default)]
pub struct Objects<'a> {
    known: BTreeMap<(&'a str, &'a str, &'a str), &'a Marked>,
}

impl<'a> Objects<'a> {
    /// Objects to walk owners in; of two with one name the first is kept.
    pub fn new(objects: impl Iterator<Item = &'a Marked>) -> Self {
        let mut known = BTreeMap::new();
        for one in objects {
            let key = (one.kind.as_str(), one.namespace.as_str(), one.name.as_str());
            known.entry(key).or_insert(one);
        }
        Self { known }
    }

    /// An owner, which stands in the namespace of what it owns or in none.
    fn owner(&self, of: &Marked, (kind, name): (&str, &str)) -> Option<&'a Marked> {
        let beside = self.known.get(&(kind, of.namespace.as_str(), name));
        beside
            .or_else(|| self.known.get(&(kind, "", name)))
            .copied()
    }

    /// Whose an object is.
    #[must_use]
    pub fn release_of(&self, object: &Marked, releases: &[Named]) -> Belongs {
        let mut now = object;
        for hop in 0..=MOST_OWNERS {
            match own(now, releases) {
                Belongs::To(at, _) if hop > 0 => return Belongs::To(at, How::Owner),
                Belongs::Unknown => {}
                told => return told,
            }
            let owners = now.owners.iter();
            let owners = owners.map(|(kind, name)| (kind.as_str(), name.as_str()));
            let Some(owner) = owners.clone().find_map(|owner| self.owner(now, owner)) else {
                return uncaptured(now, owners, releases, self);
            };
            now = owner;
        }
        Belongs::Unknown
    }
}

/// Owners that were not captured: a replica set is named after its deployment, and the operator's resources are the
/// chart's where one release of that chart is there.
fn uncaptured<'a>(
    object: &Marked,
    owners: impl Iterator<Item = (&'a str, &'a str)>,
    releases: &[Named],
    objects: &Objects<'_>,
) -> Belongs {
    for (kind, name) in owners {
        if kind == "replicaset" {
            let deployment = name.rsplit_once('-').map(|(deployment, _)| deployment);
            let known = deployment.and_then(|name| objects.owner(object, ("deployment", name)));
            if let Some(Belongs::To(at, _)) = known.map(|one| own(one, releases)) {
                return Belongs::To(at, How::Owner);
            }
        }
        if OPERATORS.contains(&kind) {
            let found = only(releases, |one| one.chart == "gpu-operator");
            return found.map_or(Belongs::Unknown, |at| Belongs::To(at, How::Owner));
        }
    }
    Belongs::Unknown
}

fn only(releases: &[Named], wanted: impl Fn(&Named) -> bool) -> Option<usize> {
    let mut hits = releases.iter().enumerate().filter(|(_, one)| wanted(one));
    let (at, _) = hits.next()?;
    hits.next().is_none().then_some(at)
}

/// What an object's own marks say.
fn own(object: &Marked, releases: &[Named]) -> Belongs {
    let annotation = |key: &str| object.annotations.get(key).map(String::as_str);
    let label = |key: &str| object.labels.get(key).map(String::as_str);
    let found = |namespace: &str, name: &str, how: How| {
        // Objects of the whole cluster do not say their release's namespace in labels.
        let at = only(releases, |one| {
            one.name == name && (namespace.is_empty() || one.namespace == namespace)
        });
        at.map_or(Belongs::Elsewhere, |at| Belongs::To(at, how))
    };
    if let Some(name) = annotation(NAME) {
        let namespace = annotation(NAMESPACE);
        return found(
            namespace.unwrap_or(&object.namespace),
            name,
            How::Annotation,
        );
    }
    let helms = |key: &str| {
        label(key)
            .is_some_and(|by| by.eq_ignore_ascii_case("helm") || by.eq_ignore_ascii_case("tiller"))
    };
    if let Some(name) = label(INSTANCE).filter(|_| helms(MANAGED_BY)) {
        return found(&object.namespace, name, How::Label);
    }
    if let Some(name) = label(RELEASE).filter(|_| helms(HERITAGE)) {
        return found(&object.namespace, name, How::Legacy);
    }
    let chart = label(CHART).or_else(|| label(OLD_CHART));
    let by_chart = chart.and_then(|label| {
        only(releases, |one| {
            let same = object.namespace.is_empty() || one.namespace == object.namespace;
            same && is_of_chart(label, &one.chart)
        })
    });
    by_chart.map_or(Belongs::Unknown, |at| Belongs::To(at, How::Chart))
}

/// Whether `<chart>-<version>` is of a chart; names of charts hold dashes, versions begin with a digit.
fn is_of_chart(label: &str, chart: &str) -> bool {
    let rest = label.strip_prefix(chart).filter(|_| !chart.is_empty());
    let version = rest.and_then(|rest| rest.strip_prefix('-'));
    version.is_some_and(|version| {
        let version = version.strip_prefix('v').unwrap_or(version);
        version.starts_with(|first: char| first.is_ascii_digit())
    })
}
