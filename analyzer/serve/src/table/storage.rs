//! Rows of volumes and what they come from.

use serde_json::Value;

use super::cell::{AGE, Cell, Column, NAME, Row, col, named, number, txt, typed, wide};
use super::network::default;
use super::workloads::some_quantity;
use crate::value::{annotation, at, text};

pub(super) const VOLUME: &[Column] = &[
    NAME,
    col("Capacity"),
    col("Access Modes"),
    col("Reclaim Policy"),
    col("Status"),
    col("Claim"),
    col("StorageClass"),
    col("VolumeAttributesClass"),
    col("Reason"),
    AGE,
    wide("VolumeMode"),
];

pub(super) fn volume(row: &Row<'_>) -> Vec<Cell> {
    let claim = at(row.object, "spec.claimRef");
    let claim = match claim {
        Value::Null => String::new(),
        claim => format!("{}/{}", text(claim, "namespace"), text(claim, "name")),
    };
    vec![
        row.name(),
        txt(quantity(at(row.object, "spec.capacity.storage"))),
        txt(modes(row.list("spec.accessModes"))),
        row.copy("spec.persistentVolumeReclaimPolicy"),
        phase(row),
        txt(claim),
        class(row),
        row.or("spec.volumeAttributesClassName", "<unset>"),
        row.copy("status.reason"),
        row.age(),
        row.or("spec.volumeMode", "<unset>"),
    ]
}

fn quantity(value: &Value) -> String {
    some_quantity(value).unwrap_or_else(|| "0".to_owned())
}

fn phase(row: &Row<'_>) -> Cell {
    if row.is_deleted() {
        txt("Terminating")
    } else {
        row.copy("status.phase")
    }
}

fn class(row: &Row<'_>) -> Cell {
    let old = annotation(row.object, "volume.beta.kubernetes.io/storage-class");
    txt(old.unwrap_or_else(|| row.text("spec.storageClassName")))
}

/// Access modes in the order and with the letters of kubectl.
fn modes(modes: &[Value]) -> String {
    let known = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let held = known
        .iter()
        .filter(|(mode, _)| modes.iter().any(|one| one == mode));
    let short: Vec<&str> = held.map(|(_, short)| *short).collect();
    short.join(",")
}

pub(super) const CLAIM: &[Column] = &[
    NAME,
    col("Status"),
    col("Volume"),
    col("Capacity"),
    col("Access Modes"),
    col("StorageClass"),
    col("VolumeAttributesClass"),
    AGE,
    wide("VolumeMode"),
];

pub(super) fn claim(row: &Row<'_>) -> Vec<Cell> {
    let bound = !row.text("spec.volumeName").is_empty();
    let of_bound = |text: String| txt(if bound { text } else { String::new() });
    vec![
        row.name(),
        phase(row),
        row.copy("spec.volumeName"),
        of_bound(quantity(at(row.object, "status.capacity.storage"))),
        of_bound(modes(row.list("status.accessModes"))),
        class(row),
        row.or("spec.volumeAttributesClassName", "<unset>"),
        row.age(),
        row.or("spec.volumeMode", "<unset>"),
    ]
}

pub(super) const STORAGE_CLASS: &[Column] = &[
    NAME,
    col("Provisioner"),
    col("ReclaimPolicy"),
    col("VolumeBindingMode"),
    col("AllowVolumeExpansion"),
    AGE,
];

pub(super) fn storage_class(row: &Row<'_>) -> Vec<Cell> {
    let marks = [
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ];
    vec![
        default(row, &marks),
        row.copy("provisioner"),
        row.or("reclaimPolicy", "Delete"),
        row.or("volumeBindingMode", "Immediate"),
        row.switch("allowVolumeExpansion", false),
        row.age(),
    ]
}

pub(super) const ATTRIBUTES_CLASS: &[Column] = &[NAME, col("DriverName"), AGE];

pub(super) fn attributes_class(row: &Row<'_>) -> Vec<Cell> {
    vec![row.name(), row.copy("driverName"), row.age()]
}

pub(super) const ATTACHMENT: &[Column] = &[
    NAME,
    named("Attacher", false),
    col("PV"),
    col("Node"),
    typed("Attached", "boolean"),
    AGE,
];

pub(super) fn attachment(row: &Row<'_>) -> Vec<Cell> {
    vec![
        row.name(),
        row.copy("spec.attacher"),
        row.copy("spec.source.persistentVolumeName"),
        row.copy("spec.nodeName"),
        row.switch("status.attached", false),
        row.age(),
    ]
}

pub(super) const CSI_NODE: &[Column] = &[NAME, number("Drivers"), AGE];

pub(super) fn csi_node(row: &Row<'_>) -> Vec<Cell> {
    vec![row.name(), row.count("spec.drivers"), row.age()]
}

pub(super) const CSI_DRIVER: &[Column] = &[
    NAME,
    typed("AttachRequired", "boolean"),
    typed("PodInfoOnMount", "boolean"),
    typed("StorageCapacity", "boolean"),
    col("TokenRequests"),
    typed("RequiresRepublish", "boolean"),
    col("Modes"),
    AGE,
];

pub(super) fn csi_driver(row: &Row<'_>) -> Vec<Cell> {
    let modes: Vec<&str> = row
        .list("spec.volumeLifecycleModes")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let audiences: Vec<&str> = row
        .list("spec.tokenRequests")
        .iter()
        .map(|one| text(one, "audience"))
        .collect();
    let tokens = row.has("spec.tokenRequests");
    vec![
        row.name(),
        row.switch("spec.attachRequired", true),
        row.switch("spec.podInfoOnMount", false),
        row.switch("spec.storageCapacity", false),
        txt(if tokens {
            audiences.join(",")
        } else {
            "<unset>".to_owned()
        }),
        row.switch("spec.requiresRepublish", false),
        txt(if modes.is_empty() {
            "<none>".to_owned()
        } else {
            modes.join(",")
        }),
        row.age(),
    ]
}
