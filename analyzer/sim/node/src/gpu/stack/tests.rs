//! Pairs that do not fit, as NVIDIA's documents describe them.

use super::*;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Place {
    path: String,
    line: Option<u32>,
}

fn place(path: &str) -> Place {
    Place {
        path: path.into(),
        line: Some(1),
    }
}

fn read(value: &str, path: &str) -> Read<Place> {
    Read {
        value: value.into(),
        place: place(path),
    }
}

fn gpu(name: &str) -> Gpu<Place> {
    Gpu {
        name: name.into(),
        architecture: String::new(),
        place: place("smi"),
    }
}

fn pairs(stack: &Stack<Place>) -> Vec<Pair> {
    mismatches(stack).iter().map(|one| one.pair).collect()
}

#[test]
fn parts_of_one_version_fit_and_others_are_named_with_both_versions_and_places() {
    let mut stack = Stack {
        module: Some(read("535.161.08", "proc")),
        libraries: vec![("libcuda.so.1".into(), read("535.161.08", "files"))],
        fabric_manager: Some(read("535.161.08", "fm.log")),
        firmware: Some(read("535.161.08", "smi")),
        on_disk: Some(read("535.161.08", "modinfo")),
        ..Stack::default()
    };
    assert_eq!(pairs(&stack), []);
    stack.libraries[0].1 = read("550.54.15", "files");
    stack.fabric_manager = Some(read("535.129.03", "fm.log"));
    let found = mismatches(&stack);
    assert_eq!(
        (found[0].pair, found[1].pair),
        (Pair::ModuleLibrary, Pair::ModuleFabricManager)
    );
    assert!(
        found[0].says.contains("535.161.08") && found[0].says.contains("550.54.15"),
        "{}",
        found[0].says
    );
    assert_eq!(
        (
            found[0].left.place.path.as_str(),
            found[0].right.place.path.as_str()
        ),
        ("proc", "files")
    );
    stack.module = None;
    assert_eq!(
        pairs(&stack),
        [],
        "what was not read fits nothing and contradicts nothing"
    );
}

#[test]
fn generations_need_their_flavour_and_branch() {
    for (name, flavour, driver, expected) in [
        (
            "NVIDIA B200",
            Flavour::Proprietary,
            "570.86.15",
            vec![Pair::GenerationFlavour],
        ),
        ("NVIDIA B200", Flavour::Open, "570.86.15", vec![]),
        (
            "NVIDIA GH200 480GB",
            Flavour::Proprietary,
            "570.86.15",
            vec![Pair::GenerationFlavour],
        ),
        ("NVIDIA H200", Flavour::Proprietary, "570.86.15", vec![]),
        (
            "NVIDIA B200",
            Flavour::Open,
            "550.54.15",
            vec![Pair::GenerationDriver],
        ),
        (
            "NVIDIA RTX PRO 6000 Blackwell Server Edition",
            Flavour::Proprietary,
            "580.65.06",
            vec![Pair::GenerationFlavour],
        ),
        (
            "Tesla V100-SXM2-32GB",
            Flavour::Open,
            "535.161.08",
            vec![Pair::GenerationFlavour],
        ),
        (
            "Tesla V100-SXM2-32GB",
            Flavour::Proprietary,
            "590.44.01",
            vec![Pair::GenerationDriver],
        ),
        (
            "Tesla K80",
            Flavour::Proprietary,
            "535.161.08",
            vec![Pair::GenerationDriver],
        ),
        (
            "NVIDIA H100 80GB HBM3",
            Flavour::Proprietary,
            "535.161.08",
            vec![],
        ),
        ("Graphics Device", Flavour::Open, "418.43", vec![]),
    ] {
        let stack = Stack {
            module: Some(read(driver, "proc")),
            flavour: Some((flavour, place("proc"))),
            gpus: vec![gpu(name), gpu(name)],
            ..Stack::default()
        };
        assert_eq!(pairs(&stack), expected, "{name} {flavour:?} {driver}");
    }
}

#[test]
fn products_belong_to_their_generation() {
    for (name, expected) in [
        ("NVIDIA GeForce RTX 4090", Some(Generation::Ada)),
        ("NVIDIA GeForce RTX 5090", Some(Generation::Blackwell)),
        ("NVIDIA GeForce RTX 3080 Ti", Some(Generation::Ampere)),
        ("NVIDIA RTX A6000", Some(Generation::Ampere)),
        ("NVIDIA RTX 6000 Ada Generation", Some(Generation::Ada)),
        ("NVIDIA A10", Some(Generation::Ampere)),
        ("NVIDIA L40S", Some(Generation::Ada)),
        ("Tesla T4", Some(Generation::Turing)),
        ("Quadro RTX 8000", Some(Generation::Turing)),
        ("GRID P4-1Q", Some(Generation::Pascal)),
        ("GeForce GTX 1070 Ti", Some(Generation::Pascal)),
        ("NVIDIA X9000", None),
        ("", None),
    ] {
        assert_eq!(generation(name, ""), expected, "{name}");
    }
}

#[test]
fn images_state_their_cuda_and_what_they_require() {
    for (image, cuda) in [
        ("nvcr.io/nvidia/cuda:12.4.1-base-ubuntu22.04", Some((12, 4))),
        (
            "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime",
            Some((12, 4)),
        ),
        ("vllm/vllm-openai:v0.11-cu129", Some((12, 9))),
        ("registry:5000/team/cuda-samples:v3", None),
        ("app@sha256:cuda12.4", None),
        ("ubuntu:22.04", None),
    ] {
        assert_eq!(cuda_of_image(image), cuda, "{image}");
    }
    let require = "cuda>=12.4 brand=tesla,driver>=470,driver<471 driver>=535,driver<536";
    assert_eq!(required(require, "12.4", "550.54.15"), Requirement::Met);
    assert_eq!(required(require, "12.2", "535.161.08"), Requirement::Met);
    assert_eq!(required(require, "12.2", "525.60.13"), Requirement::Unmet);
    assert_eq!(
        required(require, "11.4", "470.82.01"),
        Requirement::Unknown,
        "the brand is not known"
    );
    assert_eq!(required("", "12.2", "535.1"), Requirement::Unknown);
    assert_eq!(required("cuda>=12.4", "", ""), Requirement::Unknown);
    let stack = |driver: &str| Stack {
        module: Some(read(driver, "proc")),
        images: vec![Image {
            image: "nvidia/cuda:13.0.1-base".into(),
            requires: String::new(),
            place: place("pod"),
        }],
        ..Stack::default()
    };
    assert_eq!(pairs(&stack("570.86.15")), [Pair::ImageDriver]);
    assert_eq!(pairs(&stack("580.65.06")), []);
}

#[test]
fn holders_kernels_and_signatures_keep_the_module_away() {
    let controller = Controller {
        address: "19:00.0".into(),
        driver: "nouveau".into(),
        line: 1,
    };
    let stack = Stack {
        controllers: vec![(controller, place("lspci"))],
        kernel: Some(read("6.8.0-45-generic", "nodes.json")),
        dkms: dkms(
            "nvidia/535.161.08, 6.8.0-41-generic, x86_64: installed\nnvidia, 535.161.08, 6.8.0-45-generic, x86_64: built (WARNING!)\n",
            |_| place("dkms"),
        ),
        secure_boot: Some((true, place("mokutil"))),
        signer: Some(read("", "modinfo")),
        ..Stack::default()
    };
    assert_eq!(
        pairs(&stack),
        [Pair::GpuHolder, Pair::SecureBoot, Pair::KernelModule]
    );
    let loaded = Stack {
        module: Some(read("535.161.08", "proc")),
        ..stack
    };
    assert_eq!(
        pairs(&loaded),
        [Pair::GpuHolder],
        "a module that is loaded was accepted"
    );
}

proptest::proptest! {
    #[test]
    fn no_texts_make_the_evaluation_panic(a in "[a-z0-9.,<>=! :@-]{0,40}|\\PC{0,20}", b in "[0-9.]{0,40}", c in "[0-9.]{0,12}") {
        let _ = (required(&a, &b, &c), cuda_of_image(&a), generation(&a, &b), dkms(&a, |_| place("p")));
        let stack = Stack { module: Some(read(&b, "x")), libraries: vec![("l".into(), read(&c, "y"))], gpus: vec![gpu(&a)], ..Stack::default() };
        let _ = mismatches(&stack);
    }
}
