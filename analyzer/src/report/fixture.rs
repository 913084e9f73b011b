//! Analyses made by hand, for tests and the example: the model incident, nothing found, and one full of hostile text.

use chrono::{DateTime, Utc};

use crate::model::*;

const NODE: &str = "192-18-132-31";
const SNAP_CONFIG: &str =
    "nodes/192-18-132-31/rootfs/var/lib/k8s-containerd/k8s-containerd/etc/containerd/config.toml";
const HOST_CONFIG: &str = "nodes/192-18-132-31/rootfs/etc/containerd/config.toml";
const KUBELET: &str = "nodes/192-18-132-31/commands/ps.out";
const VALUES: &str = "helm/gpu-operator/gpu-operator-1758912452/values-computed.yaml";
const SNAP_JOURNAL: &str = "nodes/192-18-132-31/journal/snap.k8s.containerd.service.json";
const KERNEL: &str = "nodes/192-18-132-31/journal/kernel.json";
const EVENTS: &str = "cluster-resources/events/default.json";
const PODS: &str = "cluster-resources/pods/default.json";
const TOOLKIT_LOG: &str = "cluster-resources/pods/logs/gpu-operator/nvidia-container-toolkit-daemonset-bhqw6/nvidia-container-toolkit-ctr.log";
const UFW: &str = "nodes/192-18-132-31/commands/ufw-status.out";

fn at(clock: &str) -> DateTime<Utc> {
    format!("2025-09-28T{clock}Z").parse().unwrap_or_default()
}

fn place(path: &str, line: u32) -> Place {
    Place {
        path: path.to_owned(),
        line: (line > 0).then_some(line),
    }
}

fn line(path: &str, number: u32, text: &str, says: &str) -> Evidence {
    Evidence {
        place: place(path, number),
        text: text.to_owned(),
        says: says.to_owned(),
        role: Role::For,
        at: None,
        count: 1,
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn step(text: &str, command: &str, expect: &str) -> Step {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Step {
        text: text.to_owned(),
        command: some(command),
        expect: some(expect),
    }
}

/// The model incident in its first state: the toolkit configured the wrong containerd, DNS is next.
pub(crate) fn model_incident() -> Analysis {
    Analysis {
        input: Input {
            name: "casefile-192-18-132-31-20250928T044102Z.tar.gz".to_owned(),
            form: "bundle".to_owned(),
            node: Some(NODE.to_owned()),
            tool: Some("casefile-collector 0.1.0".to_owned()),
            started: Some(at("04:40:21")),
            finished: Some(at("04:41:02")),
            interrupted: None,
            cut_short: false,
            entries: 214,
            bytes: 18_431_022,
        },
        reference_time: Some(at("04:41:02")),
        incidents: vec![toolkit(), ufw()],
        differential: differential(),
        benign: vec![Benign {
            id: "nri-plugin-dir-missing".to_owned(),
            text: "containerd says so at every start when no NRI plugin is installed".to_owned(),
            evidence: vec![Evidence {
                count: 3,
                ..line(
                    SNAP_JOURNAL,
                    12,
                    "level=info msg=\"runtime interface created\"",
                    "",
                )
            }],
        }],
        timeline: timeline(),
        coverage: coverage(),
        problems: vec![Problem {
            place: place("nodes/192-18-132-31/commands/nvidia-smi-topo.out", 3),
            text: "line 3 is not a row of the topology matrix; the line was left out".to_owned(),
        }],
        impact: impact(),
        environment: environment(),
    }
}

fn toolkit() -> Incident {
    Incident {
        id: format!("toolkit-configures-wrong-containerd/node/{NODE}"),
        cause: "toolkit-configures-wrong-containerd".to_owned(),
        title: format!("GPU pods cannot start on {NODE}: the NVIDIA toolkit configured the wrong containerd"),
        verdict: Verdict::Confirmed,
        severity: Severity::High,
        subjects: strings(&[
            "node/192-18-132-31",
            "daemonset/gpu-operator/nvidia-container-toolkit-daemonset",
            "pod/default/gpu-textgen",
        ]),
        since: Some(at("03:37:02")),
        summary: "The kubelet on this node talks to the containerd of the k8s snap. The GPU Operator's toolkit, left at its defaults, edits `/etc/containerd/config.toml`, which belongs to a second, unrelated containerd. So the containerd that matters has no runtime named `nvidia`, and every pod that asks for it fails before its sandbox exists.".to_owned(),
        explanation: "A pod with runtime class `nvidia` needs a runtime handler of that name in the containerd that the kubelet uses. The toolkit writes the handler into the file named by `CONTAINERD_CONFIG`; without that variable it assumes `/etc/containerd/config.toml`.".to_owned(),
        look_alikes: "`no runtime for \"nvidia\" is configured` is the message of a dozen causes. A missing RuntimeClass names the class instead; a drop-in that is not imported leaves the file in a `conf.d`; a running containerd older than its config has the handler on disk.".to_owned(),
        evidence: toolkit_evidence(),
        would_refute: strings(&[
            "a `runtimes.nvidia` table in the file that the snap's containerd loads",
            "`CONTAINERD_CONFIG` in the toolkit's environment",
        ]),
        would_settle: vec![],
        symptoms: toolkit_symptoms(),
        chain: toolkit_chain(),
        observations: toolkit_observations(),
        tables: vec![instances()],
        remedy: toolkit_remedy(),
        references: strings(&[
            "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/getting-started.html",
        ]),
    }
}

fn toolkit_evidence() -> Vec<Evidence> {
    vec![
        line(
            KUBELET,
            41,
            "--container-runtime-endpoint=/var/lib/k8s-containerd/k8s-containerd/run/containerd/containerd.sock",
            "the kubelet uses the snap's containerd",
        ),
        line(
            VALUES,
            412,
            "  env: []",
            "the chart leaves the toolkit at its defaults",
        ),
        line(
            SNAP_CONFIG,
            14,
            "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]",
            "the only runtime table of the file that counts; its imports match no file",
        ),
        line(
            HOST_CONFIG,
            31,
            "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]",
            "the toolkit wrote its handler here, into the other instance's file",
        ),
        Evidence {
            at: Some(at("03:40:06")),
            count: 279,
            ..line(
                SNAP_JOURNAL,
                1187,
                "failed to get sandbox runtime: no runtime for \"nvidia\" is configured",
                "the message that every such failure shows; it does not say why",
            )
        },
    ]
}

fn toolkit_symptoms() -> Vec<Symptom> {
    vec![
        Symptom {
            id: "no-runtime-for-nvidia".to_owned(),
            text: "pod `default/gpu-textgen` stays in ContainerCreating: its sandbox cannot be created".to_owned(),
            evidence: vec![Evidence {
                at: Some(at("04:36:38")),
                count: 279,
                ..line(EVENTS, 88, "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for \"nvidia\" is configured", "event of the kubelet, FailedCreatePodSandBox")
            }],
        },
        Symptom {
            id: "toolkit-crash-loop".to_owned(),
            text: "the toolkit's own pod restarts again and again".to_owned(),
            evidence: vec![Evidence {
                at: Some(at("03:38:02")),
                count: 14,
                ..line(TOOLKIT_LOG, 57, "unable to dial: dial unix /runtime/sock-dir/containerd.sock: connect: connection refused", "it cannot signal a containerd at the default socket")
            }],
        },
    ]
}

fn toolkit_chain() -> Vec<ChainLink> {
    let link = |from: &str, to: &str| ChainLink {
        from: from.to_owned(),
        to: to.to_owned(),
    };
    let root = "toolkit.env is empty in the Helm values";
    vec![
        link(root, "toolkit edits /etc/containerd/config.toml"),
        link(
            "toolkit edits /etc/containerd/config.toml",
            "the snap's containerd has no runtime \"nvidia\"",
        ),
        link(
            "the snap's containerd has no runtime \"nvidia\"",
            "FailedCreatePodSandBox, 279 times",
        ),
        link(
            "FailedCreatePodSandBox, 279 times",
            "pod default/gpu-textgen never starts",
        ),
        link(
            root,
            "toolkit cannot reach a containerd at the default socket",
        ),
        link(
            "toolkit cannot reach a containerd at the default socket",
            "nvidia-container-toolkit-daemonset restarts, 14 times",
        ),
    ]
}

fn toolkit_observations() -> Vec<Observation> {
    let evidence = toolkit_evidence();
    vec![
        Observation {
            question: "Why does the pod not start?".to_owned(),
            command: "kubectl -n default describe pod gpu-textgen".to_owned(),
            lines: toolkit_symptoms().swap_remove(0).evidence,
            conclusion: "The sandbox fails: the container runtime knows no handler named `nvidia`".to_owned(),
        },
        Observation {
            question: "Which containerd does the kubelet use?".to_owned(),
            command: "ps -ww -o args= -C kubelet".to_owned(),
            lines: vec![evidence[0].clone()],
            conclusion: "The one of the k8s snap, not the one of the distribution".to_owned(),
        },
        Observation {
            question: "Does that containerd define the handler?".to_owned(),
            command: "grep -n 'runtimes\\.' /var/lib/k8s-containerd/k8s-containerd/etc/containerd/config.toml".to_owned(),
            lines: vec![evidence[2].clone()],
            conclusion: "No: only `runc`. The other file has it".to_owned(),
        },
        Observation {
            question: "Where was the toolkit told to write?".to_owned(),
            command: "helm get values gpu-operator-1758912452 -n gpu-operator --all -o yaml".to_owned(),
            lines: vec![evidence[1].clone(), evidence[3].clone()],
            conclusion: "Nowhere, so it took its default, `/etc/containerd/config.toml`".to_owned(),
        },
    ]
}

fn instances() -> Table {
    let cell = |text: &str, at: Option<Place>| Cell {
        text: text.to_owned(),
        place: at,
    };
    Table {
        title: "The two containerd instances of this node".to_owned(),
        columns: strings(&["", "the kubelet's", "the one that the toolkit configured"]),
        rows: vec![
            vec![
                cell("unit", None),
                cell("`snap.k8s.containerd.service`", None),
                cell("`containerd.service`", None),
            ],
            vec![
                cell("process", None),
                cell("242547", Some(place(KUBELET, 44))),
                cell("1187", Some(place(KUBELET, 12))),
            ],
            vec![
                cell("config", None),
                cell(
                    "`/var/lib/k8s-containerd/k8s-containerd/etc/containerd/config.toml`",
                    None,
                ),
                cell("`/etc/containerd/config.toml`", None),
            ],
            vec![
                cell("handlers", None),
                cell("`runc`", Some(place(SNAP_CONFIG, 14))),
                cell("`runc`, `nvidia`", Some(place(HOST_CONFIG, 31))),
            ],
        ],
    }
}

fn toolkit_remedy() -> Remedy {
    Remedy {
        title: "Tell the toolkit which containerd to configure".to_owned(),
        steps: vec![
            step("Keep the values in use, to be able to go back", "helm get values gpu-operator-1758912452 -n gpu-operator -o yaml > values-before.yaml", ""),
            step("See what would change", "helm upgrade gpu-operator-1758912452 nvidia/gpu-operator -n gpu-operator --reuse-values -f 01-helm-values.yaml --dry-run", "only the environment of the toolkit's daemonset differs"),
            step("Apply it; this restarts the toolkit pod and the snap's containerd on this node", "helm upgrade gpu-operator-1758912452 nvidia/gpu-operator -n gpu-operator --reuse-values -f 01-helm-values.yaml", "STATUS: deployed"),
        ],
        files: vec![FixFile {
            name: "01-helm-values.yaml".to_owned(),
            language: "yaml".to_owned(),
            content: "toolkit:\n  env:\n    - name: CONTAINERD_CONFIG\n      value: /var/lib/k8s-containerd/k8s-containerd/etc/containerd/config.toml\n    - name: CONTAINERD_SOCKET\n      value: /var/lib/k8s-containerd/k8s-containerd/run/containerd/containerd.sock\n    - name: CONTAINERD_RUNTIME_CLASS\n      value: nvidia\n".to_owned(),
        }],
        verify: vec![
            step("The kubelet's containerd has the handler", "grep -n 'runtimes.nvidia' /var/lib/k8s-containerd/k8s-containerd/etc/containerd/config.toml", "one line"),
            step("The toolkit stays up", "kubectl -n gpu-operator get pods -l app=nvidia-container-toolkit-daemonset", "`1/1 Running` and no new restarts"),
            step("The workload starts", "kubectl -n default get pod gpu-textgen", "`Running` or `Completed`"),
        ],
        mitigate: strings(&["Cordon the node, so that GPU pods are scheduled to nodes that work: `kubectl cordon 192-18-132-31`"]),
        prevent: strings(&["Keep the toolkit's `CONTAINERD_CONFIG` and `CONTAINERD_SOCKET` in the versioned Helm values of every cluster that runs the k8s snap"]),
    }
}

fn ufw() -> Incident {
    let blocked = Evidence {
        at: Some(at("04:36:20")),
        count: 41,
        ..line(
            KERNEL,
            902,
            "[UFW BLOCK] IN=lxc4f39491e6165 OUT=eno1 SRC=10.1.0.185 DST=1.1.1.1 PROTO=UDP SPT=59834 DPT=53",
            "a DNS query of a pod, dropped on its way out",
        )
    };
    Incident {
        id: format!("ufw-blocks-pod-traffic/node/{NODE}"),
        cause: "ufw-blocks-pod-traffic".to_owned(),
        title: format!("ufw drops what pods on {NODE} send to the outside"),
        verdict: Verdict::Likely,
        severity: Severity::High,
        subjects: strings(&["node/192-18-132-31", "pod/kube-system/coredns-6c9d"]),
        since: Some(at("03:12:44")),
        summary: "ufw denies routed traffic by default and no route rule lets `lxc+` out on `eno1`, so DNS queries of pods are dropped.".to_owned(),
        explanation: "Traffic of pods is forwarded, not sent by the host: the default for `routed` applies, and it is deny.".to_owned(),
        look_alikes: "A CoreDNS without upstream answers SERVFAIL at once; here the packets are dropped and queries time out.".to_owned(),
        evidence: vec![
            blocked.clone(),
            line(UFW, 3, "Default: deny (incoming), allow (outgoing), deny (routed)", "routed traffic is denied by default"),
            Evidence { role: Role::Against, ..line(UFW, 9, "Anywhere                   ALLOW IN    10.0.0.0/8", "pods may reach the host, so the firewall was prepared for some of their traffic") },
        ],
        would_refute: strings(&["a route rule `allow in on lxc+ out on eno1`"]),
        would_settle: strings(&["a DNS query from a pod that fails: no GPU pod has started yet, so none was seen"]),
        symptoms: vec![Symptom { id: "dns-timeout".to_owned(), text: "DNS queries of pods time out".to_owned(), evidence: vec![blocked] }],
        chain: vec![ChainLink { from: "ufw: deny (routed), no route rule".to_owned(), to: "DNS queries of pods are dropped".to_owned() }],
        observations: vec![],
        tables: vec![],
        remedy: Remedy {
            title: "Let pods out through ufw".to_owned(),
            steps: vec![
                step("See what would change", "ufw --dry-run route allow in on lxc+ out on eno1", ""),
                step("Allow it", "ufw route allow in on lxc+ out on eno1", "Rule added"),
            ],
            files: vec![],
            verify: vec![step("A pod resolves a name", "kubectl run dns-test --rm -it --restart=Never --image=busybox -- nslookup example.com", "an address")],
            mitigate: vec![],
            prevent: strings(&["Put the route rules into the provisioning of nodes that run ufw"]),
        },
        references: vec![],
    }
}

fn differential() -> Vec<Considered> {
    let cause = |id: &str, verdict, title: &str, why: &str, place| Considered {
        cause: id.to_owned(),
        title: title.to_owned(),
        verdict,
        why: why.to_owned(),
        place,
        explained_by: None,
    };
    vec![
        cause(
            "toolkit-configures-wrong-containerd",
            Verdict::Confirmed,
            "the toolkit writes into another containerd's config",
            "the kubelet's containerd has no `nvidia` handler, the other one has",
            Some(place(HOST_CONFIG, 31)),
        ),
        cause(
            "ufw-blocks-pod-traffic",
            Verdict::Likely,
            "ufw drops traffic of pods",
            "41 blocked packets from `lxc*` to port 53",
            Some(place(KERNEL, 902)),
        ),
        Considered {
            explained_by: Some("toolkit-configures-wrong-containerd".to_owned()),
            ..cause(
                "nvidia-runtime-not-configured",
                Verdict::Possible,
                "no nvidia runtime handler",
                "true, and explained.",
                None,
            )
        },
        cause(
            "runtimeclass-missing",
            Verdict::RuledOut,
            "the RuntimeClass does not exist",
            "`runtimeclass/nvidia` exists, handler `nvidia`",
            Some(place("cluster-resources/runtimeclasses.json", 9)),
        ),
        cause(
            "containerd-dropin-not-imported",
            Verdict::RuledOut,
            "the drop-in is not imported",
            "the toolkit wrote no drop-in; `imports` match no file",
            Some(place(SNAP_CONFIG, 2)),
        ),
        cause(
            "containerd-running-with-stale-config",
            Verdict::RuledOut,
            "containerd is older than its config",
            "started 03:31:10, file last changed 2025-09-26",
            None,
        ),
        cause(
            "node-rebooted-lost-state",
            Verdict::NotChecked,
            "state lost at reboot",
            "journal of earlier boots was not collected",
            None,
        ),
        cause(
            "gpu-fell-off-the-bus",
            Verdict::NotChecked,
            "a GPU fell off the bus",
            "journal of earlier boots was not collected",
            None,
        ),
        cause(
            "ntp-drift",
            Verdict::NotChecked,
            "clocks differ",
            "`chronyc` is not installed",
            None,
        ),
    ]
}

fn timeline() -> Vec<Moment> {
    let moment =
        |clock: &str, subject: &str, text: &str, at_place, count, incident: Option<&str>| Moment {
            at: at(clock),
            subject: subject.to_owned(),
            text: text.to_owned(),
            place: at_place,
            count,
            incident: incident.map(str::to_owned),
        };
    let (toolkit, ufw) = (
        Some("toolkit-configures-wrong-containerd"),
        Some("ufw-blocks-pod-traffic"),
    );
    vec![
        moment(
            "03:12:44",
            "node/192-18-132-31",
            "first packet of a pod blocked by ufw",
            place(KERNEL, 120),
            41,
            ufw,
        ),
        moment(
            "03:31:10",
            "node/192-18-132-31",
            "`snap.k8s.containerd.service` started",
            place(SNAP_JOURNAL, 4),
            1,
            None,
        ),
        moment(
            "03:37:02",
            "pod/default/gpu-textgen",
            "first failed sandbox",
            place(EVENTS, 12),
            279,
            toolkit,
        ),
        moment(
            "03:38:01",
            "daemonset/gpu-operator/nvidia-container-toolkit-daemonset",
            "toolkit writes `/etc/containerd/config.toml`",
            place(TOOLKIT_LOG, 51),
            1,
            toolkit,
        ),
        moment(
            "03:38:02",
            "daemonset/gpu-operator/nvidia-container-toolkit-daemonset",
            "toolkit cannot reach its socket",
            place(TOOLKIT_LOG, 57),
            14,
            toolkit,
        ),
        moment(
            "04:36:38",
            "pod/default/gpu-textgen",
            "last failed sandbox",
            place(EVENTS, 88),
            1,
            toolkit,
        ),
        moment(
            "04:41:02",
            "node/192-18-132-31",
            "end of collection",
            place("manifest.json", 0),
            1,
            None,
        ),
    ]
}

fn coverage() -> Vec<Coverage> {
    let source = |id: &str, title: &str, outcome: &str| Coverage {
        source: id.to_owned(),
        title: title.to_owned(),
        outcome: outcome.to_owned(),
        why: None,
        missing: vec![],
        so_we_cannot_say: vec![],
    };
    vec![
        Coverage {
            why: Some("rotated (`SystemMaxUse=200M`)".to_owned()),
            missing: strings(&["boots before 2025-09-28 03:30"]),
            so_we_cannot_say: strings(&[
                "when the toolkit first failed",
                "whether a reboot lost state",
            ]),
            ..source("journal", "System journal", "partial")
        },
        Coverage {
            why: Some("`chronyc` is not installed".to_owned()),
            so_we_cannot_say: strings(&["whether clocks differ"]),
            ..source("clock", "Clock", "skipped")
        },
        source("pods", "Pods and events", "collected"),
        source("helm", "Helm releases", "collected"),
        source("containerd", "containerd configuration", "collected"),
        source("ufw", "Firewall", "collected"),
        source("nvidia-smi", "nvidia-smi", "collected"),
    ]
}

fn impact() -> Impact {
    let count = |key: &str, value| (key.to_owned(), value);
    Impact {
        counts: [
            count("gpu_nodes", 1),
            count("gpu_nodes_affected", 1),
            count("gpus", 1),
            count("gpus_allocatable", 0),
            count("pods", 31),
            count("pods_affected", 2),
        ]
        .into_iter()
        .collect(),
        workloads: vec![
            ImpactedWorkload {
                subject: "pod/default/gpu-textgen".to_owned(),
                state: "ContainerCreating".to_owned(),
                restarts: 0,
                since: Some(at("03:37:02")),
                gpus: 1,
                place: place(PODS, 1),
            },
            ImpactedWorkload {
                subject: "pod/gpu-operator/nvidia-container-toolkit-daemonset-bhqw6".to_owned(),
                state: "CrashLoopBackOff".to_owned(),
                restarts: 14,
                since: Some(at("03:51:00")),
                gpus: 0,
                place: place("cluster-resources/pods/gpu-operator.json", 1),
            },
        ],
    }
}

fn environment() -> Vec<EnvironmentItem> {
    let item = |label: &str, value: &str, place| EnvironmentItem {
        label: label.to_owned(),
        value: value.to_owned(),
        place,
    };
    vec![
        item(
            "Kubernetes",
            "v1.32.8 (k8s snap)",
            Some(place("cluster-info/version.json", 1)),
        ),
        item("Node image", "Ubuntu 22.04.5 LTS", None),
        item("Kernel", "5.15.0-153-generic", None),
        item(
            "NVIDIA driver",
            "570.124.06",
            Some(place("nodes/192-18-132-31/commands/nvidia-smi.xml", 7)),
        ),
        item(
            "GPU Operator",
            "v25.3.0, toolkit v1.17.5-ubuntu20.04",
            Some(place(VALUES, 430)),
        ),
    ]
}

/// An input in which no cause was confirmed and much was not collected.
pub(crate) fn nothing_found() -> Analysis {
    let cause = |id: &str, verdict, why: &str| Considered {
        cause: id.to_owned(),
        title: String::new(),
        verdict,
        why: why.to_owned(),
        place: None,
        explained_by: None,
    };
    let failed = |id: &str, title: &str, why: &str, open: &str| Coverage {
        source: id.to_owned(),
        title: title.to_owned(),
        outcome: "failed".to_owned(),
        why: Some(why.to_owned()),
        missing: vec![],
        so_we_cannot_say: strings(&[open]),
    };
    Analysis {
        input: Input {
            name: "casefile-bare.tar.gz".to_owned(),
            form: "bundle".to_owned(),
            node: Some("bare".to_owned()),
            entries: 4,
            bytes: 900,
            ..Input::default()
        },
        reference_time: Some(at("09:00:00")),
        incidents: vec![],
        differential: vec![
            cause(
                "driver-not-installed",
                Verdict::RuledOut,
                "no GPU is on the PCI bus, so no driver is needed",
            ),
            cause(
                "runtimeclass-missing",
                Verdict::NotChecked,
                "the API server was not reached",
            ),
            cause(
                "ufw-blocks-pod-traffic",
                Verdict::NotChecked,
                "the firewall was not collected",
            ),
        ],
        benign: vec![],
        timeline: vec![],
        coverage: vec![
            failed(
                "kubernetes",
                "Kubernetes API",
                "connection refused",
                "whether any pod fails",
            ),
            failed(
                "ufw",
                "Firewall",
                "ufw: not found",
                "whether pods reach the outside",
            ),
        ],
        problems: vec![],
        impact: Impact::default(),
        environment: vec![],
    }
}
