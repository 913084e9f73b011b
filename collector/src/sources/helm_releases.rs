//! Helm releases: values as the user set them and as the charts saw them, revisions, and what changed last.

use std::collections::BTreeMap;
use std::time::Duration;

use casefile_bundle::Entry;
use casefile_bundle::sources as about;
use serde::Serialize;

use crate::cluster::api::core_lists;
use crate::cluster::helm_release::{Driver, Revision, Values, decode};
use crate::cluster::listing::{self, Flow, Items};
use crate::cluster::{Stopped, credentials, ended, helm_values, value_changes, yaml};
use crate::out::{Out, OutError};
use crate::outcome::Outcome;
use crate::redact::Content;
use crate::source::{PlanCtx, PlanItem, Source, SourceCtx};

/// Helm releases.
pub static SOURCE: Source = Source {
    about: &about::HELM_RELEASES,
    timeout: Duration::from_secs(60),
    max_bytes: 64 << 20,
    plan,
    collect: |ctx| Box::pin(collect(ctx)),
};

const SELECTOR: &str = "labelSelector=owner%3Dhelm";
const DRIVERS: [(Driver, &str); 2] = [
    (Driver::Secret, "secrets"),
    (Driver::ConfigMap, "configmaps"),
];

fn plan(ctx: &PlanCtx<'_>) -> Vec<PlanItem> {
    if !ctx.options.asks_cluster() {
        return Vec::new();
    }
    let lists = DRIVERS
        .iter()
        .flat_map(|(_, plural)| core_lists(plural, &ctx.options.namespaces));
    let lists = lists.map(|path| PlanItem::get(format!("{path}?limit=500&{SELECTOR}")));
    let mut items = credentials::plan(ctx.host, ctx.options.kubeconfig.as_deref());
    items.extend(lists);
    items
}

async fn collect(ctx: SourceCtx) -> Outcome {
    ended(take(&ctx).await)
}

/// A release's revisions by number.
type Release = BTreeMap<u64, Revision>;

#[derive(Default)]
struct Releases {
    found: BTreeMap<(String, String), Release>,
    driver: Option<Driver>,
    broken: Vec<String>,
}

async fn take(ctx: &SourceCtx) -> Result<Outcome, Stopped> {
    let cluster = ctx.cluster.connect().await?;
    let api = &cluster.api;
    let mut releases = Releases::default();
    let mut whys = Vec::new();
    for (driver, plural) in DRIVERS {
        releases.driver = Some(driver);
        for path in core_lists(plural, &cluster.namespaces(&ctx.options)) {
            let mut listed =
                listing::list(api, &ctx.cancel, &path, SELECTOR, &mut releases).await?;
            if listed.error.as_ref().and_then(|error| error.code()) == Some(404) {
                listed = listing::list(api, &ctx.cancel, &path, "", &mut releases).await?;
            }
            whys.extend(
                listed
                    .notes
                    .into_iter()
                    .map(|note| format!("LIST {plural}: {note}")),
            );
            whys.extend(
                listed
                    .error
                    .map(|error| error.note(&format!("LIST {plural}"))),
            );
        }
    }
    whys.append(&mut releases.broken);
    whys.iter().for_each(|why| ctx.out.note(why));
    let count = releases.found.len();
    for ((namespace, name), release) in &releases.found {
        write_release(&ctx.out, namespace, name, release).await?;
    }
    Ok(Outcome::of(whys, count > 0))
}

impl Items for Releases {
    async fn item(&mut self, raw: &[u8]) -> Result<Flow, OutError> {
        let driver = self.driver.unwrap_or(Driver::Secret);
        match decode(raw, driver) {
            Ok(None) => {}
            Ok(Some(revision)) => {
                let key = (revision.namespace.clone(), revision.name.clone());
                let release = self.found.entry(key).or_default();
                release.insert(revision.revision, revision);
                let keep = [
                    shown(release),
                    before(release),
                    release.keys().next_back().copied(),
                ];
                for (number, revision) in release.iter_mut() {
                    if !keep.contains(&Some(*number)) {
                        revision.values = None;
                    }
                }
            }
            Err(error) => {
                let head: crate::cluster::slim::Head =
                    serde_json::from_slice(raw).unwrap_or_default();
                let (namespace, name) = (head.metadata.namespace, head.metadata.name);
                self.broken.push(format!(
                    "failed: the helm release in {namespace}/{name}: {}",
                    crate::cluster::api::chain(&error)
                ));
            }
        }
        Ok(Flow::More)
    }

    /// Releases are told apart by their numbers, so they may come twice.
    fn restart(&mut self) {}
}

/// The revision whose values count: the newest deployed one, or the newest at all.
fn shown(release: &Release) -> Option<u64> {
    let deployed = release
        .iter()
        .rev()
        .find(|(_, revision)| revision.status == "deployed");
    deployed
        .or_else(|| release.iter().next_back())
        .map(|(number, _)| *number)
}

/// The revision before that.
fn before(release: &Release) -> Option<u64> {
    let shown = shown(release)?;
    release
        .range(..shown)
        .next_back()
        .map(|(number, _)| *number)
}

#[derive(Serialize)]
struct ReleaseFile<'a> {
    name: &'a str,
    namespace: &'a str,
    chart: &'a str,
    chart_version: &'a str,
    app_version: &'a str,
    revision: u64,
    status: &'a str,
    updated: &'a str,
    description: &'a str,
    newest_revision: u64,
    newest_status: &'a str,
    /// Paths of values that no template of the chart reads.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unread_values: &'a [String],
}

#[derive(Serialize)]
struct HistoryLine<'a> {
    revision: u64,
    updated: &'a str,
    status: &'a str,
    chart: String,
    app_version: &'a str,
    description: &'a str,
}

#[derive(Serialize)]
struct ChangesFile {
    from_revision: u64,
    to_revision: u64,
    from_chart: String,
    to_chart: String,
    user_values: value_changes::Changes,
    all_values: value_changes::Changes,
}

fn chart_of(revision: &Revision) -> String {
    format!("{}-{}", revision.chart, revision.chart_version)
}

async fn write_release(
    out: &Out,
    namespace: &str,
    name: &str,
    release: &Release,
) -> Result<(), OutError> {
    let (Some(current), Some(newest)) = (
        shown(release).and_then(|number| release.get(&number)),
        release.values().next_back(),
    ) else {
        return Ok(());
    };
    let file = ReleaseFile {
        name,
        namespace,
        chart: &current.chart,
        chart_version: &current.chart_version,
        app_version: &current.app_version,
        revision: current.revision,
        status: &current.status,
        updated: &current.updated,
        description: &current.description,
        newest_revision: newest.revision,
        newest_status: &newest.status,
        unread_values: &current.unread,
    };
    let folder = Folder {
        out,
        namespace,
        name,
    };
    folder.json("release.json", current.revision, &file).await?;
    folder.history(release).await?;
    folder
        .values(current, "values-user.yaml", helm_values::user)
        .await?;
    folder
        .values(current, "values-all.yaml", helm_values::all)
        .await?;
    let previous = before(release).and_then(|number| release.get(&number));
    let upcoming = Some(newest).filter(|newest| newest.revision != current.revision);
    for other in previous.into_iter().chain(upcoming) {
        let file = format!("values-user-{}.yaml", other.revision);
        folder.values(other, &file, helm_values::user).await?;
    }
    // The last change is the one that is being tried, where there is such a one.
    let pair = match (upcoming, previous) {
        (Some(newest), _) => Some((current, newest)),
        (None, Some(previous)) => Some((previous, current)),
        (None, None) => None,
    };
    if let Some((from, to)) = pair {
        folder.changes(from, to).await?;
    }
    Ok(())
}

struct Folder<'a> {
    out: &'a Out,
    namespace: &'a str,
    name: &'a str,
}

type Reading = fn(&Values) -> Result<serde_json::Value, serde_json::Error>;

impl Folder<'_> {
    async fn put(
        &self,
        file: &str,
        revision: u64,
        content: Content,
        bytes: &[u8],
    ) -> Result<(), OutError> {
        let path = Entry::Helm(self.namespace, self.name, file).into();
        let origin = format!(
            "helm release {}/{} revision {revision}",
            self.namespace, self.name
        );
        self.out.put(path, content, Some(origin), bytes).await
    }

    async fn json(
        &self,
        file: &str,
        revision: u64,
        value: &impl Serialize,
    ) -> Result<(), OutError> {
        let mut text = serde_json::to_vec(value).unwrap_or_default();
        text.push(b'\n');
        self.put(file, revision, Content::JsonLines, &text).await
    }

    async fn history(&self, release: &Release) -> Result<(), OutError> {
        let mut text = String::from("[");
        for (index, revision) in release.values().enumerate() {
            let line = HistoryLine {
                revision: revision.revision,
                updated: &revision.updated,
                status: &revision.status,
                chart: chart_of(revision),
                app_version: &revision.app_version,
                description: &revision.description,
            };
            text.push_str(if index > 0 { ",\n" } else { "\n" });
            text.push_str(&serde_json::to_string(&line).unwrap_or_default());
        }
        text.push_str("\n]\n");
        let newest = release.keys().next_back().copied().unwrap_or_default();
        self.put("history.json", newest, Content::JsonLines, text.as_bytes())
            .await
    }

    async fn values(&self, revision: &Revision, file: &str, read: Reading) -> Result<(), OutError> {
        match revision.values.as_ref().map(read) {
            Some(Ok(values)) => {
                self.put(
                    file,
                    revision.revision,
                    Content::Text,
                    yaml::to_yaml(&values).as_bytes(),
                )
                .await
            }
            _ => {
                let (namespace, name) = (self.namespace, self.name);
                self.out.note(format!("failed: {file} of the helm release {namespace}/{name}: its values cannot be read"));
                Ok(())
            }
        }
    }

    async fn changes(&self, from: &Revision, to: &Revision) -> Result<(), OutError> {
        let compare = |read: Reading| {
            let from = from.values.as_ref().and_then(|values| read(values).ok())?;
            let to = to.values.as_ref().and_then(|values| read(values).ok())?;
            Some(value_changes::changes(&from, &to))
        };
        let (Some(user_values), Some(all_values)) =
            (compare(helm_values::user), compare(helm_values::all))
        else {
            return Ok(());
        };
        let changes = ChangesFile {
            from_revision: from.revision,
            to_revision: to.revision,
            from_chart: chart_of(from),
            to_chart: chart_of(to),
            user_values,
            all_values,
        };
        self.json("changes.json", to.revision, &changes).await
    }
}
