//! The keys and types that containerd decodes: tables of names and shapes.

/// What a key may hold.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Str,
    Int,
    Bool,
    StrList,
    /// Anything.
    Any,
    /// Any table.
    Table,
    /// A table with these keys; others are ignored by containerd.
    Fields(&'static [&'static [(&'static str, Shape)]]),
    /// A table of tables or values of one shape.
    Each(&'static Shape),
}

use Shape::{Bool, Each, Fields, Int, Str, StrList, Table};

pub(super) type Keys = &'static [(&'static str, Shape)];

const GRPC: Keys = &[
    ("address", Str),
    ("tcp_address", Str),
    ("tcp_tls_ca", Str),
    ("tcp_tls_cert", Str),
    ("tcp_tls_key", Str),
    ("tcp_tls_common_name", Str),
    ("uid", Int),
    ("gid", Int),
    ("max_recv_message_size", Int),
    ("max_send_message_size", Int),
];
const TTRPC: Keys = &[("address", Str), ("uid", Int), ("gid", Int)];
const DEBUG: Keys = &[
    ("address", Str),
    ("uid", Int),
    ("gid", Int),
    ("level", Str),
    ("format", Str),
];
const PROXY: Keys = &[
    ("type", Str),
    ("address", Str),
    ("platform", Str),
    ("exports", Each(&Str)),
    ("capabilities", StrList),
];
const STREAM: Keys = &[
    ("accepts", StrList),
    ("returns", Str),
    ("path", Str),
    ("args", StrList),
    ("env", StrList),
];
pub(super) const TOP: Keys = &[
    ("version", Int),
    ("root", Str),
    ("state", Str),
    ("temp", Str),
    ("plugin_dir", Str),
    ("oom_score", Int),
    ("imports", StrList),
    ("disabled_plugins", StrList),
    ("required_plugins", StrList),
    ("grpc", Fields(&[GRPC])),
    ("ttrpc", Fields(&[TTRPC])),
    ("debug", Fields(&[DEBUG])),
    (
        "metrics",
        Fields(&[&[("address", Str), ("grpc_histogram", Bool)]]),
    ),
    ("cgroup", Fields(&[&[("path", Str)]])),
    ("proxy_plugins", Each(&Fields(&[PROXY]))),
    ("stream_processors", Each(&Fields(&[STREAM]))),
    ("timeouts", Each(&Str)),
];

const RUNTIME: Keys = &[
    ("runtime_type", Str),
    ("runtime_path", Str),
    ("pod_annotations", StrList),
    ("container_annotations", StrList),
    ("options", Table),
    ("privileged_without_host_devices", Bool),
    ("base_runtime_spec", Str),
    ("cni_conf_dir", Str),
    ("cni_max_conf_num", Int),
];
const RUNTIME_1: Keys = &[("runtime_engine", Str), ("runtime_root", Str)];
const RUNTIME_1_7: Keys = &[
    ("privileged_without_host_devices_all_devices_allowed", Bool),
    ("snapshotter", Str),
    ("sandbox_mode", Str),
];
const RUNTIME_2: Keys = &[
    ("privileged_without_host_devices_all_devices_allowed", Bool),
    ("snapshotter", Str),
    ("sandboxer", Str),
    ("io_type", Str),
    ("cgroup_writable", Bool),
];
const SHAPE_1_6: Shape = Fields(&[RUNTIME, RUNTIME_1]);
const SHAPE_1_7: Shape = Fields(&[RUNTIME, RUNTIME_1, RUNTIME_1_7]);
const SHAPE_2: Shape = Fields(&[RUNTIME, RUNTIME_2]);

const CONTAINERD_1: Keys = &[
    ("snapshotter", Str),
    ("default_runtime_name", Str),
    ("no_pivot", Bool),
    ("disable_snapshot_annotations", Bool),
    ("discard_unpacked_layers", Bool),
    ("ignore_rdt_not_enabled_errors", Bool),
];
const CONTAINERD_1_6: Keys = &[
    ("default_runtime", SHAPE_1_6),
    ("untrusted_workload_runtime", SHAPE_1_6),
    ("runtimes", Each(&SHAPE_1_6)),
];
const CONTAINERD_1_7: Keys = &[
    ("default_runtime", SHAPE_1_7),
    ("untrusted_workload_runtime", SHAPE_1_7),
    ("runtimes", Each(&SHAPE_1_7)),
    ("ignore_blockio_not_enabled_errors", Bool),
];
const CONTAINERD_2: Keys = &[
    ("default_runtime_name", Str),
    ("runtimes", Each(&SHAPE_2)),
    ("ignore_blockio_not_enabled_errors", Bool),
    ("ignore_rdt_not_enabled_errors", Bool),
];

const CNI: Keys = &[
    ("bin_dir", Str),
    ("conf_dir", Str),
    ("max_conf_num", Int),
    ("conf_template", Str),
    ("ip_pref", Str),
];
const CNI_1_7: Keys = &[("setup_serially", Bool)];
const CNI_2: Keys = &[
    ("setup_serially", Bool),
    ("bin_dirs", StrList),
    ("use_internal_loopback", Bool),
];

const AUTH: Keys = &[
    ("username", Str),
    ("password", Str),
    ("auth", Str),
    ("identitytoken", Str),
];
const TLS: Keys = &[
    ("insecure_skip_verify", Bool),
    ("ca_file", Str),
    ("cert_file", Str),
    ("key_file", Str),
];
const REGISTRY: Keys = &[
    ("config_path", Str),
    ("mirrors", Each(&Fields(&[&[("endpoint", StrList)]]))),
    ("auths", Each(&Fields(&[AUTH]))),
    ("headers", Each(&StrList)),
];
const REGISTRY_1: Keys = &[(
    "configs",
    Each(&Fields(&[&[
        ("auth", Fields(&[AUTH])),
        ("tls", Fields(&[TLS])),
    ]])),
)];
const REGISTRY_2: Keys = &[("configs", Each(&Fields(&[&[("auth", Fields(&[AUTH]))]])))];

const STREAMING: Keys = &[
    ("disable_tcp_service", Bool),
    ("stream_server_address", Str),
    ("stream_server_port", Str),
    ("stream_idle_timeout", Str),
    ("enable_tls_streaming", Bool),
    (
        "x509_key_pair_streaming",
        Fields(&[&[("tls_cert_file", Str), ("tls_key_file", Str)]]),
    ),
];
const COMMON: Keys = &[
    ("enable_selinux", Bool),
    ("selinux_category_range", Int),
    ("max_container_log_line_size", Int),
    ("disable_apparmor", Bool),
    ("restrict_oom_score_adj", Bool),
    ("disable_proc_mount", Bool),
    ("unset_seccomp_profile", Str),
    ("tolerate_missing_hugetlb_controller", Bool),
    ("disable_hugetlb_controller", Bool),
    ("device_ownership_from_security_context", Bool),
    ("ignore_image_defined_volumes", Bool),
    ("netns_mounts_under_state_dir", Bool),
    ("enable_unprivileged_ports", Bool),
    ("enable_unprivileged_icmp", Bool),
];
const IMAGE: Keys = &[
    ("image_decryption", Fields(&[&[("key_model", Str)]])),
    ("stats_collect_period", Int),
    ("max_concurrent_downloads", Int),
];
const PULL: Keys = &[
    ("image_pull_progress_timeout", Str),
    ("image_pull_with_sync_fs", Bool),
];
const CDI: Keys = &[
    ("enable_cdi", Bool),
    ("cdi_spec_dirs", StrList),
    ("drain_exec_sync_io_timeout", Str),
    ("ignore_deprecation_warnings", StrList),
];
const ONLY_1: Keys = &[
    ("sandbox_image", Str),
    ("systemd_cgroup", Bool),
    ("disable_cgroup", Bool),
    ("registry", Fields(&[REGISTRY, REGISTRY_1])),
];

pub(super) const CRI_1_6: Shape = Fields(&[
    COMMON,
    STREAMING,
    IMAGE,
    ONLY_1,
    &[
        ("containerd", Fields(&[CONTAINERD_1, CONTAINERD_1_6])),
        ("cni", Fields(&[CNI])),
    ],
]);
pub(super) const CRI_1_7: Shape = Fields(&[
    COMMON,
    STREAMING,
    IMAGE,
    ONLY_1,
    PULL,
    CDI,
    &[
        ("containerd", Fields(&[CONTAINERD_1, CONTAINERD_1_7])),
        ("cni", Fields(&[CNI, CNI_1_7])),
    ],
]);
pub(super) const RUNTIME_PLUGIN: Shape = Fields(&[
    COMMON,
    CDI,
    &[
        ("containerd", Fields(&[CONTAINERD_2])),
        ("cni", Fields(&[CNI, CNI_2])),
    ],
]);
pub(super) const IMAGES_PLUGIN: Shape = Fields(&[
    IMAGE,
    PULL,
    &[
        ("snapshotter", Str),
        ("disable_snapshot_annotations", Bool),
        ("discard_unpacked_layers", Bool),
        ("pinned_images", Each(&Str)),
        (
            "runtime_platforms",
            Each(&Fields(&[&[("platform", Str), ("snapshotter", Str)]])),
        ),
        ("registry", Fields(&[REGISTRY, REGISTRY_2])),
        ("use_local_image_pull", Bool),
        ("concurrent_layer_fetch_buffer", Int),
    ],
]);
pub(super) const SERVER_PLUGIN: Shape = Fields(&[STREAMING]);
