//! Which kinds have columns of their own, and which these are.

use super::cell::{Cell, Column, Row};
use super::{cluster, devices, network, pods, policy, storage, workloads};

/// How the rows of a kind are made.
pub(super) struct Printer {
    pub(super) group: &'static str,
    pub(super) plural: &'static str,
    pub(super) columns: &'static [Column],
    pub(super) row: fn(&Row<'_>) -> Vec<Cell>,
}

const fn printer(
    group: &'static str,
    plural: &'static str,
    columns: &'static [Column],
    row: fn(&Row<'_>) -> Vec<Cell>,
) -> Printer {
    Printer {
        group,
        plural,
        columns,
        row,
    }
}

const ADMISSION: &str = "admissionregistration.k8s.io";
const APPS: &str = "apps";
const CERTIFICATES: &str = "certificates.k8s.io";
const COORDINATION: &str = "coordination.k8s.io";
const FLOW: &str = "flowcontrol.apiserver.k8s.io";
const NETWORKING: &str = "networking.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";
const RESOURCE: &str = "resource.k8s.io";
const SCHEDULING: &str = "scheduling.k8s.io";
const STORAGE: &str = "storage.k8s.io";

/// Kinds with columns of their own; others show the name and when they were made.
pub(super) const PRINTERS: &[Printer] = &[
    printer(
        "",
        "componentstatuses",
        cluster::COMPONENT,
        cluster::component,
    ),
    printer("", "configmaps", cluster::CONFIG_MAP, cluster::config_map),
    printer("", "endpoints", network::ENDPOINTS, network::endpoints),
    printer("", "events", cluster::EVENT, cluster::event),
    printer("", "namespaces", cluster::NAMESPACE, cluster::namespace),
    printer("", "nodes", cluster::NODE, cluster::node),
    printer("", "persistentvolumeclaims", storage::CLAIM, storage::claim),
    printer("", "persistentvolumes", storage::VOLUME, storage::volume),
    printer("", "pods", pods::COLUMNS, pods::row),
    printer(
        "",
        "podtemplates",
        workloads::POD_TEMPLATE,
        workloads::pod_template,
    ),
    printer(
        "",
        "replicationcontrollers",
        workloads::REPLICAS,
        workloads::replication_controller,
    ),
    printer("", "resourcequotas", cluster::QUOTA, cluster::quota),
    printer("", "secrets", cluster::SECRET, cluster::secret),
    printer(
        "",
        "serviceaccounts",
        cluster::NAME_AND_AGE,
        cluster::name_and_age,
    ),
    printer("", "services", network::SERVICE, network::service),
    printer(
        ADMISSION,
        "mutatingadmissionpolicies",
        policy::MUTATING_POLICY,
        policy::mutating_policy,
    ),
    printer(
        ADMISSION,
        "mutatingadmissionpolicybindings",
        policy::POLICY_BINDING,
        policy::policy_binding,
    ),
    printer(
        ADMISSION,
        "mutatingwebhookconfigurations",
        policy::WEBHOOKS,
        policy::webhooks,
    ),
    printer(
        ADMISSION,
        "validatingadmissionpolicies",
        policy::VALIDATING_POLICY,
        policy::validating_policy,
    ),
    printer(
        ADMISSION,
        "validatingadmissionpolicybindings",
        policy::POLICY_BINDING,
        policy::policy_binding,
    ),
    printer(
        ADMISSION,
        "validatingwebhookconfigurations",
        policy::WEBHOOKS,
        policy::webhooks,
    ),
    printer(
        "apiregistration.k8s.io",
        "apiservices",
        cluster::API_SERVICE,
        cluster::api_service,
    ),
    printer(
        APPS,
        "controllerrevisions",
        workloads::CONTROLLER_REVISION,
        workloads::controller_revision,
    ),
    printer(
        APPS,
        "daemonsets",
        workloads::DAEMON_SET,
        workloads::daemon_set,
    ),
    printer(
        APPS,
        "deployments",
        workloads::DEPLOYMENT,
        workloads::deployment,
    ),
    printer(
        APPS,
        "replicasets",
        workloads::REPLICAS,
        workloads::replica_set,
    ),
    printer(
        APPS,
        "statefulsets",
        workloads::STATEFUL_SET,
        workloads::stateful_set,
    ),
    printer(
        "autoscaling",
        "horizontalpodautoscalers",
        workloads::AUTOSCALER,
        workloads::autoscaler,
    ),
    printer("autoscaling", "scales", workloads::SCALE, workloads::scale),
    printer(
        "batch",
        "cronjobs",
        workloads::CRON_JOB,
        workloads::cron_job,
    ),
    printer("batch", "jobs", workloads::JOB, workloads::job),
    printer(
        CERTIFICATES,
        "certificatesigningrequests",
        policy::SIGNING_REQUEST,
        policy::signing_request,
    ),
    printer(
        CERTIFICATES,
        "clustertrustbundles",
        policy::TRUST_BUNDLE,
        policy::trust_bundle,
    ),
    printer(
        CERTIFICATES,
        "podcertificaterequests",
        policy::POD_CERTIFICATE,
        policy::pod_certificate,
    ),
    printer(COORDINATION, "leases", cluster::LEASE, cluster::lease),
    printer(
        COORDINATION,
        "leasecandidates",
        cluster::LEASE_CANDIDATE,
        cluster::lease_candidate,
    ),
    printer(
        "discovery.k8s.io",
        "endpointslices",
        network::ENDPOINT_SLICE,
        network::endpoint_slice,
    ),
    printer("events.k8s.io", "events", cluster::EVENT, cluster::event),
    printer(
        FLOW,
        "flowschemas",
        policy::FLOW_SCHEMA,
        policy::flow_schema,
    ),
    printer(
        FLOW,
        "prioritylevelconfigurations",
        policy::PRIORITY_LEVEL,
        policy::priority_level,
    ),
    printer(
        "internal.apiserver.k8s.io",
        "storageversions",
        cluster::STORAGE_VERSION,
        cluster::storage_version,
    ),
    printer(
        NETWORKING,
        "ingressclasses",
        network::INGRESS_CLASS,
        network::ingress_class,
    ),
    printer(NETWORKING, "ingresses", network::INGRESS, network::ingress),
    printer(
        NETWORKING,
        "ipaddresses",
        network::IP_ADDRESS,
        network::ip_address,
    ),
    printer(
        NETWORKING,
        "networkpolicies",
        network::NETWORK_POLICY,
        network::network_policy,
    ),
    printer(
        NETWORKING,
        "servicecidrs",
        network::SERVICE_CIDR,
        network::service_cidr,
    ),
    printer(
        "node.k8s.io",
        "runtimeclasses",
        policy::RUNTIME_CLASS,
        policy::runtime_class,
    ),
    printer(
        "policy",
        "poddisruptionbudgets",
        policy::DISRUPTION_BUDGET,
        policy::disruption_budget,
    ),
    printer(
        RBAC,
        "clusterrolebindings",
        policy::BINDING,
        policy::binding,
    ),
    printer(RBAC, "rolebindings", policy::BINDING, policy::binding),
    printer(
        RESOURCE,
        "deviceclasses",
        cluster::NAME_AND_AGE,
        cluster::name_and_age,
    ),
    printer(RESOURCE, "devicetaintrules", devices::TAINT, devices::taint),
    printer(RESOURCE, "resourceclaims", devices::CLAIM, devices::claim),
    printer(
        RESOURCE,
        "resourceclaimtemplates",
        cluster::NAME_AND_AGE,
        cluster::name_and_age,
    ),
    printer(
        RESOURCE,
        "resourcepoolstatusrequests",
        devices::POOL_STATUS,
        devices::pool_status,
    ),
    printer(RESOURCE, "resourceslices", devices::SLICE, devices::slice),
    printer(
        SCHEDULING,
        "podgroups",
        devices::POD_GROUP,
        devices::pod_group,
    ),
    printer(
        SCHEDULING,
        "priorityclasses",
        policy::PRIORITY_CLASS,
        policy::priority_class,
    ),
    printer(
        SCHEDULING,
        "workloads",
        cluster::NAME_AND_AGE,
        cluster::name_and_age,
    ),
    printer(
        STORAGE,
        "csidrivers",
        storage::CSI_DRIVER,
        storage::csi_driver,
    ),
    printer(STORAGE, "csinodes", storage::CSI_NODE, storage::csi_node),
    printer(
        STORAGE,
        "storageclasses",
        storage::STORAGE_CLASS,
        storage::storage_class,
    ),
    printer(
        STORAGE,
        "volumeattachments",
        storage::ATTACHMENT,
        storage::attachment,
    ),
    printer(
        STORAGE,
        "volumeattributesclasses",
        storage::ATTRIBUTES_CLASS,
        storage::attributes_class,
    ),
    printer(
        "storagemigration.k8s.io",
        "storageversionmigrations",
        cluster::MIGRATION,
        cluster::migration,
    ),
];

pub(super) const CREATED: Printer = printer("", "", policy::CREATED, policy::created);
