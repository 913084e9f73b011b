//! CUDA of images and what it needs of the driver. Source: NVIDIA's notes on minor version compatibility
//! (<https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html>) and libnvidia-container's
//! reading of `NVIDIA_REQUIRE_*`: alternatives separated by blanks, conditions that must all hold by commas.

use crate::gpu::version;

/// Whether a requirement holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// One alternative holds.
    Met,
    /// No alternative holds.
    Unmet,
    /// It depends on what was not read.
    Unknown,
}

/// The oldest driver branch that runs a CUDA major release.
pub(super) fn least_driver(cuda_major: u32) -> Option<u32> {
    match cuda_major {
        11 => Some(450),
        12 => Some(525),
        13 => Some(580),
        _ => None,
    }
}

/// Evaluates `NVIDIA_REQUIRE_CUDA` for a driver with its newest CUDA; empty versions are unknown, as are brands.
pub fn required(text: &str, cuda: &str, driver: &str) -> Requirement {
    let mut alternatives = text.split_whitespace().peekable();
    if alternatives.peek().is_none() {
        return Requirement::Unknown;
    }
    let mut open = false;
    for alternative in alternatives {
        match holds(alternative, cuda, driver) {
            Some(true) => return Requirement::Met,
            None => open = true,
            Some(false) => {}
        }
    }
    if open {
        Requirement::Unknown
    } else {
        Requirement::Unmet
    }
}

/// Whether all conditions hold; false as soon as one does not, none if that depends on what is unknown.
fn holds(alternative: &str, cuda: &str, driver: &str) -> Option<bool> {
    let mut all = Some(true);
    for condition in alternative.split(',') {
        match condition_holds(condition, cuda, driver) {
            Some(false) => return Some(false),
            None => all = None,
            Some(true) => {}
        }
    }
    all
}

fn condition_holds(condition: &str, cuda: &str, driver: &str) -> Option<bool> {
    let at = condition.find(['<', '>', '=', '!'])?;
    let (name, rest) = condition.split_at(at);
    let end = rest.find(|c: char| !matches!(c, '<' | '>' | '=' | '!'))?;
    let (operator, want) = rest.split_at(end);
    let have = match name {
        "cuda" => cuda,
        "driver" => driver,
        _ => return None,
    };
    let order = version::compare(have, want)?;
    match operator {
        ">=" => Some(order.is_ge()),
        ">" => Some(order.is_gt()),
        "<=" => Some(order.is_le()),
        "<" => Some(order.is_lt()),
        "=" | "==" => Some(order.is_eq()),
        "!=" => Some(order.is_ne()),
        _ => None,
    }
}

/// CUDA that an image's name or tag states: `cuda:12.4.1-base`, `2.4.0-cuda12.4-cudnn9`, `...-cu124`.
pub fn cuda_of_image(image: &str) -> Option<(u32, u32)> {
    let name = image.split('@').next()?.to_ascii_lowercase();
    let long = name.match_indices("cuda").find_map(|(at, word)| {
        let rest = name[at + word.len()..].trim_start_matches([':', '-', '_', 'v']);
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let mut numbers = rest[..end].split('.');
        let major = numbers
            .next()?
            .parse()
            .ok()
            .filter(|major| (9..=20).contains(major))?;
        Some((major, numbers.next()?.parse().ok()?))
    });
    long.or_else(|| {
        name.split(['-', '_', ':', '.']).find_map(|word| {
            let digits = word.strip_prefix("cu")?;
            let all = digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
            let number: u32 = digits.parse().ok().filter(|_| all)?;
            Some((number / 10, number % 10)).filter(|(major, _)| (11..=20).contains(major))
        })
    })
}
