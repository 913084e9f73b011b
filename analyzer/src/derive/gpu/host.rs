//! What the node itself says of its devices, its firmware and its kernel, where no program printed it and no API server
//! answered.

use casefile_bundle::Entry;
use serde::Deserialize;

use super::Known;
use crate::facts::Fact;
use crate::facts::kube::Node;
use crate::facts::node::Setting;
use crate::gpu::lspci::{self, Controller};
use crate::gpu::stack::Read;
use crate::model::Place;
use crate::parsers::{Figure, HostLine, HostSays};

/// NVIDIA's display controllers: as `lspci -nnk` prints them, else as the collector read them from sysfs.
pub(super) fn controllers(known: &Known<'_>, node: &str) -> Vec<(Controller, Place)> {
    let at = |path: &str, controller: Controller| {
        let place = Place {
            path: path.into(),
            line: Some(controller.line),
        };
        (controller, place)
    };
    let printed = Entry::Printed(node, "lspci").path();
    if let Some(text) = known.documents.get(&printed) {
        let found = lspci::controllers(text).into_iter();
        return found.map(|one| at(&printed, one)).collect();
    }
    let path = Entry::Host(node, "pci.json").path();
    let text = known.documents.get(&path).map_or("", String::as_str);
    let found = lspci::from_sysfs(text).into_iter();
    found.map(|one| at(&path, one)).collect()
}

#[derive(Deserialize)]
struct Boot {
    secure_boot: Option<bool>,
}

/// Whether secure boot is on: as `mokutil` says, else as the firmware's variable does; none where neither is known.
pub(super) fn secure_boot(known: &Known<'_>, node: &str) -> Option<(bool, Place)> {
    let said = |path: &str, on: bool| {
        let place = Place {
            path: path.into(),
            line: Some(1),
        };
        (on, place)
    };
    let printed = Entry::Printed(node, "mokutil-sb-state").path();
    if let Some(text) = known.documents.get(&printed) {
        let on = text.contains("SecureBoot enabled");
        if on || text.contains("SecureBoot disabled") {
            return Some(said(&printed, on));
        }
    }
    let path = Entry::Host(node, "boot.json").path();
    let boot: Boot = serde_json::from_str(known.documents.get(&path)?).ok()?;
    boot.secure_boot.map(|on| said(&path, on))
}

/// The running kernel: as the Node object has it, else as the node's `/proc` does.
pub(super) fn kernel(known: &Known<'_>, node: &str) -> Option<Read<Place>> {
    let read = |value: &str, place: &Place| Read {
        value: value.to_owned(),
        place: place.clone(),
    };
    let objects = known.facts.table::<Node>().iter();
    let mut stated = objects.filter(|one| one.data.name == node && !one.data.kernel.is_empty());
    if let Some(object) = stated.next() {
        return Some(read(&object.data.kernel, &object.place));
    }
    let settings = known.facts.table::<Setting>().iter();
    let of_node = |one: &&Fact<Setting>| one.data.node == node && !one.data.value.is_empty();
    let mut settings = settings.filter(of_node);
    if let Some(found) = settings.find(|one| one.data.name == "kernel.osrelease") {
        return Some(read(&found.data.value, &found.place));
    }
    let printed = Entry::Printed(node, "uname").path();
    let line = known.documents.get(&printed)?.lines().next()?;
    let kernel = line.strip_prefix("Linux ")?.split_whitespace().nth(1)?;
    let place = Place {
        path: printed.into(),
        line: Some(1),
    };
    Some(read(kernel, &place))
}

/// The kernel for which NVIDIA's installer built the module when it last ran to its end: it writes its log anew each time.
pub(super) fn installed_for(known: &Known<'_>, node: &str) -> Option<Read<Place>> {
    let figures = || {
        let lines = known.facts.table::<HostLine>().iter();
        lines.filter_map(|line| match &line.data.says {
            HostSays::Figure(figure) if line.data.node == node => Some((figure, &line.place)),
            _ => None,
        })
    };
    let (_, done) = figures().find(|(figure, _)| matches!(figure, Figure::Installed(_)))?;
    figures().find_map(|(figure, place)| match figure {
        Figure::BuildsFor(kernel) if place.path == done.path => Some(Read {
            value: kernel.clone(),
            place: place.clone(),
        }),
        _ => None,
    })
}
