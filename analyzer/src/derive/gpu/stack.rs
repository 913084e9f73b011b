//! The driver stack of a node, gathered from what was captured, and its parts that do not fit.

use casefile_bundle::Entry;

use super::libraries::{self, Library};
use super::{Known, gpus, host};
use crate::derive::line_at;
use crate::facts::gpu::{Driver, DriverMismatch, Gpu};
use crate::facts::kube::Pod;
use crate::facts::said::SaidOtherwise;
use crate::facts::{AnyFact, Fact};
use crate::gpu::stack::{self, Flavour, Image, Mismatch, Pair, Read, Side, Stack};
use crate::gpu::version;
use crate::model::Place;
use crate::parsers::{CapturedFile, DriverLine, Says, installed};
use crate::scan::pasted;

/// Libraries whose versions are the driver's.
const LIBRARIES: [&str; 2] = ["libcuda.so.", "libnvidia-ml.so."];

pub(super) fn facts(known: &Known<'_>, node: &str, listed: &[Fact<Gpu>]) -> Vec<AnyFact> {
    let stack = gather(known, node, listed);
    let mismatches = stack::mismatches(&stack).into_iter();
    let worked = listed.iter().find(|gpu| gpu.data.node == node);
    mismatches
        .flat_map(|one| match worked {
            Some(gpu) if is_nvml(&one) && !known.replayed => {
                vec![worked_all_the_same(node, gpu, &one)]
            }
            _ => both(known, node, one),
        })
        .collect()
}

/// Whether it is a mismatch that would have kept nvidia-smi from answering.
fn is_nvml(one: &Mismatch<Place>) -> bool {
    let is_library = |side: &Side<Place>| side.what.contains("libnvidia-ml");
    one.pair == Pair::ModuleLibrary && (is_library(&one.left) || is_library(&one.right))
}

/// nvidia-smi answered, which it does not with an NVML of another version than the module's: the library that was seen
/// is not the one that is used, or was captured at another time.
fn worked_all_the_same(node: &str, gpu: &Fact<Gpu>, one: &Mismatch<Place>) -> AnyFact {
    let data = SaidOtherwise {
        node: node.to_owned(),
        program: "nvidia-smi".to_owned(),
        sentence: format!(
            "nvidia-smi answered, although {} is {} and {} is {}",
            one.left.what, one.left.value, one.right.what, one.right.value
        ),
    };
    Fact {
        data,
        place: gpu.place.clone(),
        text: gpu.text.clone(),
        at: None,
    }
    .into()
}

/// A pair that does not fit, stated where each of its sides stands: either place alone shows half of it.
fn both(known: &Known<'_>, node: &str, one: Mismatch<Place>) -> Vec<AnyFact> {
    let pair = serde_json::to_value(one.pair).ok();
    let word = pair.as_ref().and_then(|pair| pair.as_str());
    let data = DriverMismatch {
        node: node.to_owned(),
        pair: word.unwrap_or_default().to_owned(),
        left_at: shown(known, &one.left.place),
        right_at: shown(known, &one.right.place),
        left: one.left.what.clone(),
        left_value: one.left.value.clone(),
        sentence: one.says,
        right: one.right.what.clone(),
        right_value: one.right.value.clone(),
    };
    let mut sides = vec![one.right, one.left];
    sides.dedup_by(|left, right| left.place == right.place);
    let facts = sides.into_iter().map(|side| {
        let fact = Fact {
            data: data.clone(),
            text: text_at(known, &side).into(),
            place: side.place,
            at: None,
        };
        fact.into()
    });
    facts.collect()
}

/// A place as people see it: of a pasted piece, the text that it was pasted in.
fn shown(known: &Known<'_>, place: &Place) -> String {
    let original = pasted::original(known.origins, place);
    original.as_ref().unwrap_or(place).to_string()
}

/// The line behind a side, where its file was kept as text, else its value.
fn text_at(known: &Known<'_>, side: &Side<Place>) -> String {
    let line = side.place.line;
    let line = line.and_then(|line| line_at(known.documents, &side.place.path, line));
    match line {
        Some(line) => crate::facts::excerpt(line.trim(), 300),
        None => String::new(),
    }
}

fn gather(known: &Known<'_>, node: &str, listed: &[Fact<Gpu>]) -> Stack<Place> {
    let drivers = || {
        let all = known.facts.table::<Driver>().iter();
        all.filter(|driver| driver.data.node == node)
    };
    let read = |value: &str, place: &Place| Read {
        value: value.to_owned(),
        place: place.clone(),
    };
    // What the module says of itself in /proc goes before what nvidia-smi says of it.
    let loaded = || drivers().filter(|one| version::is_version(&one.data.module));
    let module = loaded()
        .find(|one| !one.data.flavour.is_empty())
        .or_else(|| loaded().next());
    let cuda = drivers().find(|one| version::is_version(&one.data.cuda));
    let flavour = module.and_then(|one| Some((flavour(&one.data.flavour)?, one.place.clone())));
    let gpus = gpus(known, node, listed);
    let firmware = gpus
        .iter()
        .find(|gpu| !gpu.data.card.gsp_firmware.is_empty());
    let command = |name: &str| {
        let path = Entry::Printed(node, name).path();
        known.documents.get_key_value(&path)
    };
    let field = |name: &str, key: &str| {
        let (path, text) = command(name)?;
        labelled(path, text, key)
    };
    let modinfo = command("modinfo-nvidia").filter(|(_, text)| text.contains("version:"));
    Stack {
        module: module.map(|one| read(&one.data.module, &one.place)),
        answered: drivers()
            .find(|one| version::is_driver(&one.data.version))
            .map(|one| read(&one.data.version, &one.place)),
        flavour,
        on_disk: field("modinfo-nvidia", "version:"),
        built_for: field("modinfo-nvidia", "vermagic:"),
        installed_for: host::installed_for(known, node),
        signer: modinfo.map(|(path, text)| {
            labelled(path, text, "signer:").unwrap_or_else(|| read("", &first_line(path)))
        }),
        libraries: libraries(known, node),
        fabric_manager: fabric_manager(known, node),
        packages: packages(known, node),
        firmware: firmware.map(|gpu| read(&gpu.data.card.gsp_firmware, &gpu.place)),
        cuda: cuda.map(|one| read(&one.data.cuda, &one.place)),
        gpus: gpus.iter().map(|gpu| stack_gpu(gpu)).collect(),
        images: images(known, node),
        controllers: host::controllers(known, node),
        dkms: command("dkms-status").map_or_else(Vec::new, |(path, text)| {
            let place = |line| Place {
                path: path.as_str().into(),
                line: Some(line),
            };
            stack::dkms(text, place)
        }),
        kernel: host::kernel(known, node),
        secure_boot: host::secure_boot(known, node),
    }
}

fn first_line(path: &str) -> Place {
    Place {
        path: path.into(),
        line: Some(1),
    }
}

/// The first word after a label at the start of a line.
fn labelled(path: &str, text: &str, label: &str) -> Option<Read<Place>> {
    let found = text.lines().zip(1_u32..).find_map(|(line, number)| {
        let value = line.strip_prefix(label)?.split_whitespace().next()?;
        Some((value, number))
    });
    found.map(|(value, number)| Read {
        value: value.to_owned(),
        place: Place {
            path: path.into(),
            line: Some(number),
        },
    })
}

fn flavour(word: &str) -> Option<Flavour> {
    [Flavour::Open, Flavour::Proprietary]
        .into_iter()
        .find(|flavour| flavour.word() == word)
}

fn stack_gpu(gpu: &Fact<Gpu>) -> stack::Gpu<Place> {
    stack::Gpu {
        name: gpu.data.card.name.clone(),
        architecture: gpu.data.card.architecture.clone(),
        place: gpu.place.clone(),
    }
}

/// Versions of the libraries that programs are given: as the loader's cache has them, else by the names of captured
/// files.
fn libraries(known: &Known<'_>, node: &str) -> Vec<(String, Read<Place>)> {
    let path = Entry::Host(node, "libraries.json").path();
    let cached = known.documents.get(&path);
    let cached = cached.map_or_else(Vec::new, |text| cached_libraries(&path, text));
    if cached.is_empty() {
        libraries_by_name(known, node)
    } else {
        cached
    }
}

/// Of each library the one version that the loader's cache leads to; where it leads to several, it is not known which
/// one a program gets.
fn cached_libraries(path: &str, text: &str) -> Vec<(String, Read<Place>)> {
    let records: Vec<(Library, u32)> = libraries::records(text)
        .filter(|(library, ..)| library.exists && version::is_driver(&library.version))
        .map(|(library, _, number)| (library, number))
        .collect();
    let mut found = Vec::new();
    for stem in LIBRARIES {
        let mut cached = records
            .iter()
            .filter(|(library, _)| library.cached_as.starts_with(stem));
        let Some((first, number)) = cached.next() else {
            continue;
        };
        if cached.all(|(other, _)| other.version == first.version) {
            let library = Read {
                value: first.version.clone(),
                place: Place {
                    path: path.into(),
                    line: Some(*number),
                },
            };
            found.push((first.path.clone(), library));
        }
    }
    found
}

/// Where a link names the file, that one; else the only one there.
fn libraries_by_name(known: &Known<'_>, node: &str) -> Vec<(String, Read<Place>)> {
    let files = known.facts.table::<CapturedFile>().iter();
    let of_node: Vec<&Fact<CapturedFile>> = files.filter(|file| file.data.node == node).collect();
    let mut found = Vec::new();
    for stem in LIBRARIES {
        let named: Vec<(&Fact<CapturedFile>, &str)> = of_node
            .iter()
            .filter(|file| file.data.outcome != "absent")
            .filter_map(|file| {
                let target = file.data.link.as_deref().unwrap_or(&file.data.path);
                let number = file_name(target).strip_prefix(stem)?;
                file_name(&file.data.path)
                    .starts_with(stem)
                    .then_some((*file, number))
            })
            .filter(|(_, number)| version::is_driver(number))
            .collect();
        let linked = named
            .iter()
            .find(|(file, _)| file.data.path.ends_with(".so.1"));
        let only = match named.as_slice() {
            [only] => Some(only),
            _ => None,
        };
        if let Some((file, number)) = linked.or(only) {
            let library = Read {
                value: (*number).to_owned(),
                place: file.place.clone(),
            };
            found.push((file.data.path.clone(), library));
        }
    }
    found
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What Fabric Manager said last of its version.
fn fabric_manager(known: &Known<'_>, node: &str) -> Option<Read<Place>> {
    let lines = known.facts.table::<DriverLine>().iter();
    let versions = lines
        .filter(|line| line.data.node == node)
        .filter_map(|line| {
            let Says::FabricManager(version) = &line.data.says.what else {
                return None;
            };
            Some((line, version))
        });
    let last = versions.max_by_key(|(line, _)| (line.at, line.place.clone()));
    last.map(|(line, version)| Read {
        value: version.clone(),
        place: line.place.clone(),
    })
}

/// Beginnings of package names, and the pair that each makes with the module.
const PACKAGES: [(&str, Pair); 2] = [
    ("nvidia-fabric", Pair::ModuleFabricManager),
    ("libnvidia-compute", Pair::ModuleLibrary),
];

/// Packages of the driver that are installed: in the package manager's lists, and in lines that were pasted.
fn packages(known: &Known<'_>, node: &str) -> Vec<(Pair, Read<Place>)> {
    let lines = known.facts.table::<DriverLine>().iter();
    let of_node = lines.filter(|line| {
        line.data.node == node || (line.data.node.is_empty() && node == pasted::UNNAMED_NODE)
    });
    let said = of_node.filter_map(|line| {
        let Says::Package(name, version) = &line.data.says.what else {
            return None;
        };
        let (_, pair) = PACKAGES.iter().find(|(start, _)| start == name)?;
        let read = Read {
            value: version.clone(),
            place: line.place.clone(),
        };
        Some((*pair, read))
    });
    let lists = ["dpkg-packages", "rpm-packages"].map(|name| Entry::Printed(node, name).path());
    let lists = lists
        .iter()
        .filter_map(|path| known.documents.get_key_value(path));
    let listed = lists.flat_map(|(path, text)| {
        text.lines().zip(1_u32..).filter_map(move |(line, number)| {
            let (version, pair) = PACKAGES
                .iter()
                .find_map(|(start, pair)| Some((installed(line, start)?, *pair)))?;
            let place = Place {
                path: path.as_str().into(),
                line: Some(number),
            };
            let value = version.to_owned();
            Some((pair, Read { value, place }))
        })
    });
    let mut all: Vec<(Pair, Read<Place>)> = said.chain(listed).collect();
    all.dedup_by(|a, b| a.1.place == b.1.place);
    all
}

/// Images of pods of the node that ask for GPUs.
fn images(known: &Known<'_>, node: &str) -> Vec<Image<Place>> {
    let pods = known.facts.table::<Pod>().iter();
    let here = pods.filter(|pod| pod.data.node == node && pod.data.gpus > 0 && !node.is_empty());
    here.flat_map(|pod| {
        let requires = pod.data.env.get("NVIDIA_REQUIRE_CUDA");
        pod.data.images.iter().map(move |image| Image {
            image: image.clone(),
            requires: requires.cloned().unwrap_or_default(),
            place: pod.place.clone(),
        })
    })
    .collect()
}
