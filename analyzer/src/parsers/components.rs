//! Which part of the GPU stack a workload is, told from its labels, image and name.

/// Marker substrings, most specific first: of an image path or workload name, and the component.
const MARKERS: &[(&str, &str)] = &[
    ("container-toolkit", "toolkit"),
    ("operator-validator", "validator"),
    ("cuda-validator", "validator"),
    ("device-plugin-validat", "validator"),
    ("hami-device-plugin", "hami-device-plugin"),
    ("hami-scheduler", "hami-scheduler"),
    ("vgpu-device-manager", "vgpu-manager"),
    ("k8s-device-plugin", "device-plugin"),
    ("nvidia-device-plugin", "device-plugin"),
    ("gpu-feature-discovery", "gpu-feature-discovery"),
    ("node-feature-discovery", "node-feature-discovery"),
    ("dcgm-exporter", "dcgm-exporter"),
    ("mig-manager", "mig-manager"),
    ("nvidia-driver-daemonset", "driver"),
    ("nvidia/driver", "driver"),
    ("fabricmanager", "fabric-manager"),
    ("gpu-operator", "gpu-operator"),
    ("coredns", "dns"),
    ("cilium", "cni"),
    ("calico", "cni"),
    ("flannel", "cni"),
    ("kube-proxy", "kube-proxy"),
];

/// The component that a workload with this name and these images is; empty for anything else.
pub(super) fn component<'a>(name: &str, images: impl Iterator<Item = &'a str>) -> String {
    let by_name = find(name);
    if !by_name.is_empty() && by_name != "gpu-operator" {
        return by_name.to_owned();
    }
    let by_image = images.map(find).find(|found| !found.is_empty());
    by_image.unwrap_or(by_name).to_owned()
}

fn find(text: &str) -> &'static str {
    MARKERS
        .iter()
        .find(|(marker, _)| text.contains(marker))
        .map_or("", |(_, component)| component)
}

/// Whether a diagnosis reads this environment variable: those of container runtimes and NVIDIA.
pub(super) fn env_matters(name: &str) -> bool {
    [
        "CONTAINERD_",
        "RUNTIME",
        "NVIDIA_",
        "CUDA_",
        "DOCKER_",
        "CRIO_",
        "NCCL_",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix))
        || name == "ROOT"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_gpu_stack_are_told_apart_although_all_are_named_after_the_operator() {
        let none = std::iter::empty::<&str>;
        assert_eq!(
            component("nvidia-container-toolkit-daemonset-bhqw6", none()),
            "toolkit"
        );
        assert_eq!(
            component(
                "gpu-operator-1758912452-node-feature-discovery-gc-54f",
                none()
            ),
            "node-feature-discovery"
        );
        assert_eq!(
            component("gpu-operator-687f46747c-whzzw", none()),
            "gpu-operator"
        );
        assert_eq!(
            component(
                "renamed",
                ["nvcr.io/nvidia/k8s-device-plugin:v0.17"].into_iter()
            ),
            "device-plugin"
        );
        assert_eq!(component("gpu-textgen", ["pytorch:25"].into_iter()), "");
    }
}
