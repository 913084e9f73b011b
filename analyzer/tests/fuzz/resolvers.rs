//! The pure modules: whatever a captured file holds, they answer, twice the same.

use casefile_analyzer::containerd::{
    Answer, Evidence, MapTree, RootFile, Starts, cri_view, resolve,
};
use casefile_analyzer::ending::{eviction, exit, memory, moments};
use casefile_analyzer::gpu::{lspci, smi, stack, xid};
use casefile_analyzer::helm::{Seen, drifts, lines::line_of};
use casefile_analyzer::runtimes::{cdi, crio, docker, registry};
use proptest::prelude::*;

use crate::mutate::{edited, edits};

const CONTAINERD: &str = "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n[plugins.\"io.containerd.grpc.v1.cri\".containerd]\ndefault_runtime_name = \"nvidia\"\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]\nruntime_type = \"io.containerd.runc.v2\"\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia.options]\nBinaryName = \"/x\"\nSystemdCgroup = true\n[plugins.\"io.containerd.grpc.v1.cri\".registry]\nconfig_path = \"/etc/certs.d:/b\"\n";
const CRIO: &str = "[crio.runtime]\ndefault_runtime = \"nvidia\"\ncgroup_manager = \"systemd\"\n[crio.runtime.runtimes.nvidia]\nruntime_path = \"/x\"\n";
const DAEMON: &str = "{\"default-runtime\":\"nvidia\",\"exec-opts\":[\"native.cgroupdriver=systemd\"],\"runtimes\":{\"nvidia\":{\"path\":\"/x\"}}}";
const HOSTS: &str =
    "server = \"https://a\"\n[host.\"https://m\"]\ncapabilities = [\"pull\"]\nca = [\"/c.crt\"]\n";
const SPEC: &str = "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: \"0\"\n  containerEdits:\n    hooks:\n    - {hookName: createContainer, path: /h}\n";
const VALUES: &str = "toolkit:\n  repository: nvcr.io/nvidia/k8s\n  image: container-toolkit\n  version: v1\n  env:\n  - name: A\n    value: b\n  resources:\n    limits:\n      memory: 1Gi\n";
const KILL: &str = "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/kubepods.slice/kubepods-poda8697f49_441d_4d4f_90d2_6d8e1fa3bbe7.slice,task_memcg=/kubepods.slice/cri-containerd-3fc28fa1c647ceede9f6b340d0b16c9f1f663698972d22a52e296f291638e014.scope,task=x,pid=1,uid=0";
const LOW: &str = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 9Ki. Container a was using 1Gi";
const SMI: &str = "==NVSMI LOG==\nDriver Version : 535.1\nAttached GPUs : 1\nGPU 00000000:01:00.0\n    Product Name : X\n    Temperature\n        GPU Current Temp : 30 C\n";

const XIDS: &str = "NVRM: Xid (PCI:0000:a1:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\nNVRM: Xid (PCI:0000:01:00 GPU-I:05 GPU-CI:00): 94, pid=7194, Contained: CE User Channel (0x9). RST: No, D-RST: No\nNVRM: Xid (PCI:0008:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)\nNVRM: Xid (PCI:0018:01:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2)\nNVRM: Xid (PCI:0000:3B:00): 45, pid=17, Ch 00000001 caused by previous Xid 149\n";
const DEVICES: &str = "{\"devices\":[\n{\"address\":\"0000:19:00.0\",\"vendor\":\"0x10de\",\"class\":\"0x030200\",\"driver\":\"nouveau\"}\n]}\n";
const LSPCI: &str = "19:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2330] (rev a1)\n\tKernel driver in use: nouveau\n";
const DKMS: &str = "nvidia/535.161.08, 5.15.0-91-generic, x86_64: installed\nnvidia, 535.1, 5.4.0-1, x86_64: built\n";

fn broken(seed: &'static str) -> impl Strategy<Value = String> {
    edits().prop_map(move |edits| {
        String::from_utf8_lossy(&edited(seed.as_bytes(), &edits)).into_owned()
    })
}

fn tree(files: &[(&str, &str)]) -> MapTree {
    let mut tree = MapTree::whole();
    for (path, text) in files {
        tree.add(path, &format!("nodes/n/rootfs{path}"), text);
    }
    tree
}

const ROOT: &str = "/etc/containerd/config.toml";

proptest! {
    #[test]
    fn a_containerd_resolves_whatever_its_files_hold(root in broken(CONTAINERD), drop in broken(CONTAINERD), hosts in broken(HOSTS), version in "(1\\.6\\.\\d|1\\.7\\.\\d|2\\.[0-9]\\.\\d|\\PC{0,8})") {
        let tree = tree(&[(ROOT, &root), ("/etc/containerd/conf.d/1.toml", &drop), ("/etc/certs.d/docker.io/hosts.toml", &hosts)]);
        let answer = || {
            let config = resolve(&tree, RootFile { path: ROOT, explicit: false }, Some(&version));
            let cri = cri_view(&config);
            let check = cri.check(&config, "nvidia");
            let host = registry::resolve(&tree, &config, &cri, "docker.io");
            (config.starts(), check, host)
        };
        let (starts, check, host) = answer();
        prop_assert!(starts != Starts::No || check.resolves == Answer::No, "a daemon that does not start has no handler");
        prop_assert!(!check.because.is_empty());
        prop_assert!(!host.endpoints.is_empty() || !host.fault.is_empty(), "either somewhere to ask, or why not");
        prop_assert_eq!((starts, check, host), answer());
    }

    #[test]
    fn imports_that_name_one_another_end(names in proptest::collection::vec(0..4_usize, 1..12)) {
        let mut tree = MapTree::whole();
        for (at, to) in names.iter().enumerate() {
            let text = format!("version = 2\nimports = [\"/c/{to}.toml\", \"/c/*.toml\", \"/c/none.toml\"]\n");
            tree.add(&format!("/c/{at}.toml"), "x", &text);
            tree.add_link(&format!("/c/l{at}.toml"), &format!("/c/l{to}.toml"));
        }
        let config = resolve(&tree, RootFile { path: "/c/0.toml", explicit: true }, Some("1.7.0"));
        prop_assert!(config.files.len() <= names.len() + 1);
        let loops = resolve(&tree, RootFile { path: "/c/l0.toml", explicit: true }, Some("2.1.0"));
        prop_assert_eq!(loops.starts(), Starts::No, "a link that leads to itself is no file");
    }

    #[test]
    fn docker_and_crio_resolve_whatever_their_files_hold(json in broken(DAEMON), toml in broken(CRIO), second in broken(CRIO), words in proptest::collection::vec("(--?[a-z-]{0,12}(=\\PC{0,8})?|\\PC{0,6})", 0..6)) {
        let tree = tree(&[("/etc/docker/daemon.json", &json), ("/etc/crio/crio.conf", &toml), ("/etc/crio/crio.conf.d/1.conf", &second)]);
        let evidence = Evidence { path: String::new(), line: 0, text: String::new() };
        let docker = || docker::resolve(docker::Docker { tree: &tree, process: Some((&words, &evidence)), cgroup_v2: None, release: None });
        let crio = || crio::resolve(&tree, Some("1.30.0"));
        for resolved in [docker(), crio()].into_iter().flatten() {
            let check = resolved.check("it", "nvidia");
            prop_assert!(resolved.starts() || check.resolves == Answer::No);
            prop_assert!(!check.because.is_empty());
        }
        prop_assert_eq!((docker(), crio()), (docker(), crio()));
    }

    #[test]
    fn specifications_and_values_are_read_whatever_they_hold(spec in broken(SPEC), values in broken(VALUES), image in "\\PC{0,20}", path in "[a-z.\\[\\]]{0,20}") {
        let tree = tree(&[("/etc/cdi/a.yaml", &spec), ("/etc/cdi/b.json", &spec)]);
        let mut specs = cdi::read(&tree, &["/etc/cdi".to_owned()]);
        cdi::check_hooks(&mut specs, &|_| (Answer::No, Answer::Unknown));
        prop_assert!(specs.devices.len() <= spec.len());
        let seen = [Seen { image: "nvcr.io/nvidia/k8s/container-toolkit:v0".to_owned(), ..Seen::default() }, Seen { image, ..Seen::default() }];
        if let Ok(parsed) = serde_saphyr::from_str::<serde_json::Value>(&values) {
            prop_assert_eq!(drifts(&parsed, &seen), drifts(&parsed, &seen));
        }
        let line = line_of(&values, &path);
        prop_assert!(line.is_none_or(|line| usize::try_from(line).unwrap() <= values.lines().count()));
    }

    #[test]
    fn words_about_an_end_are_taken_apart_whatever_they_say(kill in broken(KILL), low in broken(LOW), any in "\\PC{0,200}", code in any::<i64>()) {
        for text in [&kill, &low, &any] {
            let _ = (memory::parse(text), eviction::parse(text), moments::chrony_offset(text), moments::synchronised(text));
        }
        prop_assert!(!exit::meaning(code).words.is_empty());
    }

    #[test]
    fn messages_of_the_driver_tell_one_story_whatever_they_say(lines in proptest::collection::vec(broken(XIDS), 1..6)) {
        let mut events: Vec<xid::Event> = Vec::new();
        for (text, order) in lines.iter().flat_map(|text| text.lines()).zip(0_u64..) {
            let Some(line) = xid::parse(text) else { continue };
            if events.iter().any(|event| event.bus == line.bus && event.code == line.code) {
                continue;
            }
            events.push(xid::Event {
                bus: line.bus,
                code: line.code,
                at: None,
                order,
                count: 1,
                processes: [line.process].into(),
                details: line.detail.into_iter().collect(),
            });
        }
        let told = || xid::stories(&events, &std::collections::BTreeMap::new());
        let messages: usize = told().iter().map(|story| story.follows.len() + 1).sum();
        prop_assert_eq!(messages, events.len(), "each message is in one story");
        prop_assert_eq!(told(), told());
    }

    #[test]
    fn devices_and_modules_are_read_whatever_the_node_says(devices in broken(DEVICES), listed in broken(LSPCI), modules in broken(DKMS), requires in "\\PC{0,60}", image in "\\PC{0,40}") {
        prop_assert!(lspci::from_sysfs(&devices).len() <= devices.lines().count());
        prop_assert!(lspci::controllers(&listed).len() <= listed.lines().count());
        prop_assert!(stack::dkms(&modules, |line| line).len() <= modules.lines().count());
        let _ = (stack::required(&requires, "12.4", "550.1"), stack::cuda_of_image(&image), stack::generation(&image, &requires));
    }

    #[test]
    fn the_output_of_nvidia_smi_is_read_whatever_it_says(text in broken(SMI)) {
        let report = smi::read(&text);
        prop_assert_eq!(&report, &smi::read(&text));
        let cards = report.map_or(0, |report| report.cards.len());
        prop_assert!(cards <= text.lines().count());
    }
}
