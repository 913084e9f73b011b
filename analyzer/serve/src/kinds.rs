//! The kinds that Kubernetes has of itself: their names, as discovery gives them (v1.36, all versions enabled).

/// A kind of Kubernetes' own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BuiltIn {
    pub(crate) group: &'static str,
    /// The version that servers prefer.
    pub(crate) version: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) singular: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) namespaced: bool,
    pub(crate) short: &'static str,
    pub(crate) categories: &'static str,
    pub(crate) subresources: &'static str,
}

type Line = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    bool,
    &'static str,
    &'static str,
    &'static str,
);

/// In the order in which servers list their groups, which decides what a short name means.
#[rustfmt::skip]
const LINES: &[Line] = &[
    ("", "v1", "componentstatuses", "componentstatus", "ComponentStatus", false, "cs", "", ""),
    ("", "v1", "configmaps", "configmap", "ConfigMap", true, "cm", "", ""),
    ("", "v1", "endpoints", "endpoints", "Endpoints", true, "ep", "", ""),
    ("", "v1", "events", "event", "Event", true, "ev", "", ""),
    ("", "v1", "limitranges", "limitrange", "LimitRange", true, "limits", "", ""),
    ("", "v1", "namespaces", "namespace", "Namespace", false, "ns", "", "status"),
    ("", "v1", "nodes", "node", "Node", false, "no", "", "proxy,status"),
    ("", "v1", "persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim", true, "pvc", "", "status"),
    ("", "v1", "persistentvolumes", "persistentvolume", "PersistentVolume", false, "pv", "", "status"),
    ("", "v1", "pods", "pod", "Pod", true, "po", "all", "log,status"),
    ("", "v1", "podtemplates", "podtemplate", "PodTemplate", true, "", "", ""),
    ("", "v1", "replicationcontrollers", "replicationcontroller", "ReplicationController", true, "rc", "all", "scale,status"),
    ("", "v1", "resourcequotas", "resourcequota", "ResourceQuota", true, "quota", "", "status"),
    ("", "v1", "secrets", "secret", "Secret", true, "", "", ""),
    ("", "v1", "serviceaccounts", "serviceaccount", "ServiceAccount", true, "sa", "", ""),
    ("", "v1", "services", "service", "Service", true, "svc", "all", "status"),
    ("apiregistration.k8s.io", "v1", "apiservices", "apiservice", "APIService", false, "", "api-extensions", "status"),
    ("apps", "v1", "controllerrevisions", "controllerrevision", "ControllerRevision", true, "", "", ""),
    ("apps", "v1", "daemonsets", "daemonset", "DaemonSet", true, "ds", "all", "status"),
    ("apps", "v1", "deployments", "deployment", "Deployment", true, "deploy", "all", "scale,status"),
    ("apps", "v1", "replicasets", "replicaset", "ReplicaSet", true, "rs", "all", "scale,status"),
    ("apps", "v1", "statefulsets", "statefulset", "StatefulSet", true, "sts", "all", "scale,status"),
    ("events.k8s.io", "v1", "events", "event", "Event", true, "ev", "", ""),
    ("autoscaling", "v2", "horizontalpodautoscalers", "horizontalpodautoscaler", "HorizontalPodAutoscaler", true, "hpa", "all", "status"),
    ("batch", "v1", "cronjobs", "cronjob", "CronJob", true, "cj", "all", "status"),
    ("batch", "v1", "jobs", "job", "Job", true, "", "all", "status"),
    ("certificates.k8s.io", "v1", "certificatesigningrequests", "certificatesigningrequest", "CertificateSigningRequest", false, "csr", "", "status"),
    ("networking.k8s.io", "v1", "ingressclasses", "ingressclass", "IngressClass", false, "", "", ""),
    ("networking.k8s.io", "v1", "ingresses", "ingress", "Ingress", true, "ing", "", "status"),
    ("networking.k8s.io", "v1", "ipaddresses", "ipaddress", "IPAddress", false, "ip", "", ""),
    ("networking.k8s.io", "v1", "networkpolicies", "networkpolicy", "NetworkPolicy", true, "netpol", "", ""),
    ("networking.k8s.io", "v1", "servicecidrs", "servicecidr", "ServiceCIDR", false, "", "", "status"),
    ("policy", "v1", "poddisruptionbudgets", "poddisruptionbudget", "PodDisruptionBudget", true, "pdb", "", "status"),
    ("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "clusterrolebinding", "ClusterRoleBinding", false, "", "", ""),
    ("rbac.authorization.k8s.io", "v1", "clusterroles", "clusterrole", "ClusterRole", false, "", "", ""),
    ("rbac.authorization.k8s.io", "v1", "rolebindings", "rolebinding", "RoleBinding", true, "", "", ""),
    ("rbac.authorization.k8s.io", "v1", "roles", "role", "Role", true, "", "", ""),
    ("storage.k8s.io", "v1", "csidrivers", "csidriver", "CSIDriver", false, "", "", ""),
    ("storage.k8s.io", "v1", "csinodes", "csinode", "CSINode", false, "", "", ""),
    ("storage.k8s.io", "v1", "csistoragecapacities", "csistoragecapacity", "CSIStorageCapacity", true, "", "", ""),
    ("storage.k8s.io", "v1", "storageclasses", "storageclass", "StorageClass", false, "sc", "", ""),
    ("storage.k8s.io", "v1", "volumeattachments", "volumeattachment", "VolumeAttachment", false, "", "", "status"),
    ("storage.k8s.io", "v1", "volumeattributesclasses", "volumeattributesclass", "VolumeAttributesClass", false, "vac", "", ""),
    ("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies", "mutatingadmissionpolicy", "MutatingAdmissionPolicy", false, "", "api-extensions", ""),
    ("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings", "mutatingadmissionpolicybinding", "MutatingAdmissionPolicyBinding", false, "", "api-extensions", ""),
    ("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "mutatingwebhookconfiguration", "MutatingWebhookConfiguration", false, "", "api-extensions", ""),
    ("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "validatingadmissionpolicy", "ValidatingAdmissionPolicy", false, "", "api-extensions", "status"),
    ("admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings", "validatingadmissionpolicybinding", "ValidatingAdmissionPolicyBinding", false, "", "api-extensions", ""),
    ("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "validatingwebhookconfiguration", "ValidatingWebhookConfiguration", false, "", "api-extensions", ""),
    ("apiextensions.k8s.io", "v1", "customresourcedefinitions", "customresourcedefinition", "CustomResourceDefinition", false, "crd,crds", "api-extensions", "status"),
    ("scheduling.k8s.io", "v1", "priorityclasses", "priorityclass", "PriorityClass", false, "pc", "", ""),
    ("coordination.k8s.io", "v1", "leases", "lease", "Lease", true, "", "", ""),
    ("node.k8s.io", "v1", "runtimeclasses", "runtimeclass", "RuntimeClass", false, "", "", ""),
    ("discovery.k8s.io", "v1", "endpointslices", "endpointslice", "EndpointSlice", true, "", "", ""),
    ("resource.k8s.io", "v1", "deviceclasses", "deviceclass", "DeviceClass", false, "", "", ""),
    ("resource.k8s.io", "v1", "resourceclaims", "resourceclaim", "ResourceClaim", true, "", "", "status"),
    ("resource.k8s.io", "v1", "resourceclaimtemplates", "resourceclaimtemplate", "ResourceClaimTemplate", true, "", "", ""),
    ("resource.k8s.io", "v1", "resourceslices", "resourceslice", "ResourceSlice", false, "", "", ""),
    ("flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "flowschema", "FlowSchema", false, "", "", "status"),
    ("flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations", "prioritylevelconfiguration", "PriorityLevelConfiguration", false, "", "", "status"),
    ("certificates.k8s.io", "v1beta1", "clustertrustbundles", "clustertrustbundle", "ClusterTrustBundle", false, "", "", ""),
    ("certificates.k8s.io", "v1beta1", "podcertificaterequests", "podcertificaterequest", "PodCertificateRequest", true, "", "", "status"),
    ("scheduling.k8s.io", "v1alpha2", "podgroups", "podgroup", "PodGroup", true, "", "", "status"),
    ("scheduling.k8s.io", "v1alpha2", "workloads", "workload", "Workload", true, "", "", ""),
    ("coordination.k8s.io", "v1beta1", "leasecandidates", "leasecandidate", "LeaseCandidate", true, "", "", ""),
    ("resource.k8s.io", "v1beta2", "devicetaintrules", "devicetaintrule", "DeviceTaintRule", false, "", "", "status"),
    ("resource.k8s.io", "v1alpha3", "resourcepoolstatusrequests", "resourcepoolstatusrequest", "ResourcePoolStatusRequest", false, "", "", "status"),
    ("internal.apiserver.k8s.io", "v1alpha1", "storageversions", "storageversion", "StorageVersion", false, "", "", "status"),
    ("storagemigration.k8s.io", "v1beta1", "storageversionmigrations", "storageversionmigration", "StorageVersionMigration", false, "", "", "status"),
    ("metrics.k8s.io", "v1beta1", "nodes", "", "NodeMetrics", false, "", "", ""),
    ("metrics.k8s.io", "v1beta1", "pods", "", "PodMetrics", true, "", "", ""),
];

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = BuiltIn> {
    LINES.iter().map(|line| BuiltIn {
        group: line.0,
        version: line.1,
        plural: line.2,
        singular: line.3,
        kind: line.4,
        namespaced: line.5,
        short: line.6,
        categories: line.7,
        subresources: line.8,
    })
}

/// The kind of this name.
pub(crate) fn of_kind(group: &str, kind: &str) -> Option<BuiltIn> {
    all().find(|one| one.group == group && one.kind == kind)
}

/// Where a group stands among those of Kubernetes; behind them where it is not one.
pub(crate) fn rank(group: &str) -> usize {
    LINES
        .iter()
        .position(|line| line.0 == group)
        .unwrap_or(usize::MAX)
}
