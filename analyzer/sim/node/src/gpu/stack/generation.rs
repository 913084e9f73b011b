//! GPU generations and what they need of the driver. Source: NVIDIA's notes on open kernel modules
//! (<https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/kernel-modules.html>) and on the last branches
//! for older generations (<https://docs.nvidia.com/datacenter/tesla/drivers/index.html>).

use super::Flavour;

/// A generation, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// 2012.
    Kepler,
    /// 2014.
    Maxwell,
    /// 2016.
    Pascal,
    /// 2017.
    Volta,
    /// 2018; the first that the open modules support.
    Turing,
    /// 2020.
    Ampere,
    /// 2022.
    Ada,
    /// 2022.
    Hopper,
    /// 2024; works with the open modules only.
    Blackwell,
}

use Generation as G;

impl Generation {
    /// As NVIDIA writes it.
    pub fn word(self) -> &'static str {
        match self {
            G::Kepler => "Kepler",
            G::Maxwell => "Maxwell",
            G::Pascal => "Pascal",
            G::Volta => "Volta",
            G::Turing => "Turing",
            G::Ampere => "Ampere",
            G::Ada => "Ada Lovelace",
            G::Hopper => "Hopper",
            G::Blackwell => "Blackwell",
        }
    }

    /// Why this generation does not work with modules of this flavour; none if it does.
    pub fn against(self, flavour: Flavour) -> Option<&'static str> {
        match flavour {
            Flavour::Proprietary if self >= G::Blackwell => {
                Some("GPUs from Blackwell on work with the open kernel modules only")
            }
            Flavour::Open if self < G::Turing => {
                Some("the open kernel modules support GPUs from Turing on")
            }
            _ => None,
        }
    }

    /// Why this generation does not work with a driver of this branch; none if it does.
    pub fn against_driver(self, major: u32) -> Option<String> {
        let (first, last) = match self {
            G::Kepler => (304, Some(470)),
            G::Maxwell => (343, Some(580)),
            G::Pascal => (367, Some(580)),
            G::Volta => (384, Some(580)),
            G::Turing => (410, None),
            G::Ampere => (450, None),
            G::Ada | G::Hopper => (520, None),
            G::Blackwell => (565, None),
        };
        if major < first {
            return Some(format!("{} needs driver {first} or newer", self.word()));
        }
        let last = last.filter(|last| major > *last)?;
        Some(format!(
            "driver {last} is the last branch that supports {}",
            self.word()
        ))
    }
}

/// Why a GPU of this generation and name does not work with modules of this flavour. Grace Hopper is a Hopper that needs
/// the open modules.
pub(super) fn against_flavour(
    generation: Generation,
    name: &str,
    flavour: Flavour,
) -> Option<&'static str> {
    let grace = name.split([' ', '-', '/']).any(|word| word == "GH200");
    if grace && flavour == Flavour::Proprietary {
        return Some("Grace Hopper works with the open kernel modules only");
    }
    generation.against(flavour)
}

/// Tells the generation by architecture, else by product name; none if neither is known.
pub fn generation(name: &str, architecture: &str) -> Option<Generation> {
    by_architecture(architecture).or_else(|| by_name(name))
}

fn by_architecture(architecture: &str) -> Option<Generation> {
    Some(match architecture.split_whitespace().next()? {
        "Kepler" => G::Kepler,
        "Maxwell" => G::Maxwell,
        "Pascal" => G::Pascal,
        "Volta" => G::Volta,
        "Turing" => G::Turing,
        "Ampere" => G::Ampere,
        "Ada" => G::Ada,
        "Hopper" => G::Hopper,
        "Blackwell" => G::Blackwell,
        _ => return None,
    })
}

fn by_name(name: &str) -> Option<Generation> {
    const MODELS: [(G, &[&str]); 9] = [
        (
            G::Blackwell,
            &["B100", "B200", "B300", "GB200", "GB300", "GB10", "RTX 50"],
        ),
        (G::Hopper, &["H100", "H200", "H800", "H20", "GH200"]),
        (G::Ada, &["L4", "L40", "L40S", "L20", "RTX 40"]),
        (
            G::Ampere,
            &[
                "A100", "A800", "A40", "A30", "A10", "A10G", "A16", "A2", "RTX 30", "RTX A",
            ],
        ),
        (
            G::Turing,
            &["T4", "RTX 20", "GTX 16", "Quadro RTX", "TITAN RTX", "T1000"],
        ),
        (G::Volta, &["V100", "TITAN V"]),
        (G::Pascal, &["P100", "P40", "P4", "GTX 10", "Quadro P"]),
        (G::Maxwell, &["M40", "M60", "M10", "GTX 9", "Quadro M"]),
        (G::Kepler, &["K80", "K40", "K20"]),
    ];
    let words: Vec<&str> = name.split([' ', '-', '/']).collect();
    let named = |model: &&str| {
        if model.contains(' ') {
            // A family: `RTX 40` is followed by two more digits, `RTX A` by four.
            name.find(*model).is_some_and(|at| {
                let rest = &name[at + model.len()..];
                let exact = rest.is_empty() || rest.starts_with(' ');
                exact || rest.starts_with(|c: char| c.is_ascii_digit())
            })
        } else {
            words.contains(model)
        }
    };
    if name.contains("Blackwell") {
        return Some(G::Blackwell);
    }
    if name.contains(" Ada ") {
        return Some(G::Ada);
    }
    let found = MODELS.iter().find(|(_, models)| models.iter().any(&named));
    found.map(|(generation, _)| *generation)
}
