//! Quantities of the Kubernetes API: `500m`, `1.5Gi`, `20k`, `1e3`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Serialize, Serializer};

use crate::flat::Flat;

/// A quantity in billionths, the finest step that the API knows. Larger values than an `i64` of whole units are cut to that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity(i128);

const NANO: i128 = 1_000_000_000;
const LARGEST: i128 = i64::MAX as i128 * NANO;
/// More digits than any meaningful quantity has.
const LONGEST: usize = 64;

impl Quantity {
    /// Reads a quantity as `k8s.io/apimachinery/pkg/api/resource` does, rounding up what is finer than a billionth.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() > LONGEST {
            return None;
        }
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let end = unsigned
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
            return None;
        }
        let (binary, decimal) = scale(suffix)?;
        let digits = whole.bytes().chain(fraction.bytes());
        let mantissa = digits.fold(0_i128, |sum, digit| {
            sum.saturating_mul(10)
                .saturating_add(i128::from(digit - b'0'))
        });
        let shift = decimal.saturating_sub(i32::try_from(fraction.len()).ok()?);
        let scaled = times_power_of_ten(mantissa.saturating_mul(binary), shift.saturating_add(9));
        let bounded = scaled.min(LARGEST);
        Some(Self(if negative { -bounded } else { bounded }))
    }

    /// So many whole units.
    pub fn whole(number: i64) -> Self {
        Self(i128::from(number) * NANO)
    }

    /// As a whole number of units, if it is one.
    pub fn integer(self) -> Option<i64> {
        let whole = self.0 % NANO == 0;
        whole.then(|| i64::try_from(self.0 / NANO).ok()).flatten()
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// What is left of it.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// In so many parts of a unit (1 or 1000), rounded up.
    fn parts(self, parts: i128) -> i64 {
        let step = NANO / parts;
        let up = self.0.div_euclid(step) + i128::from(self.0.rem_euclid(step) != 0);
        i64::try_from(up).unwrap_or(if up < 0 { i64::MIN } else { i64::MAX })
    }
}

/// The factor of a suffix, as a power of two and a power of ten.
fn scale(suffix: &str) -> Option<(i128, i32)> {
    Some(match suffix {
        "" => (1, 0),
        "n" => (1, -9),
        "u" => (1, -6),
        "m" => (1, -3),
        "k" => (1, 3),
        "M" => (1, 6),
        "G" => (1, 9),
        "T" => (1, 12),
        "P" => (1, 15),
        "E" => (1, 18),
        "Ki" => (1 << 10, 0),
        "Mi" => (1 << 20, 0),
        "Gi" => (1 << 30, 0),
        "Ti" => (1 << 40, 0),
        "Pi" => (1 << 50, 0),
        "Ei" => (1 << 60, 0),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            let plain = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if plain.is_empty() || plain.len() > 3 || !plain.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            (1, exponent.trim_start_matches('+').parse().ok()?)
        }
    })
}

fn times_power_of_ten(mut value: i128, mut power: i32) -> i128 {
    while power > 0 && value != 0 && value < LARGEST {
        value = value.saturating_mul(10);
        power -= 1;
    }
    let mut rest = false;
    while power < 0 && value != 0 {
        rest |= value % 10 != 0;
        value /= 10;
        power += 1;
    }
    value.saturating_add(i128::from(rest))
}

/// Amounts by resource in the units that the scheduler counts in: `cpu` in thousandths, everything else in whole units.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resources {
    amounts: Flat<String, i64>,
    /// Resources whose quantity could not be read, with the text that stands there.
    pub unread: Flat<String, String>,
}

impl Resources {
    /// The amount of a resource; `None` if it is not named (or was not readable).
    pub fn get(&self, resource: &str) -> Option<i64> {
        self.amounts.get(resource).copied()
    }

    /// The amount of a resource, 0 if it is not named.
    pub fn of(&self, resource: &str) -> i64 {
        self.get(resource).unwrap_or(0)
    }

    /// All amounts, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        self.amounts
            .iter()
            .map(|(name, amount)| (name.as_str(), *amount))
    }

    /// Sets an amount in the scheduler's units.
    pub fn set(&mut self, resource: &str, amount: i64) {
        self.amounts.insert(resource.to_owned(), amount);
    }

    /// Adds the amounts of another.
    pub fn add(&mut self, other: &Self) {
        for (name, amount) in &other.amounts {
            let sum = self.of(name).saturating_add(*amount);
            self.amounts.insert(name.clone(), sum);
        }
        self.unread
            .extend(other.unread.iter().map(|(k, v)| (k.clone(), v.clone())));
    }

    /// Raises every amount to that of another, if it is lower.
    pub fn raise(&mut self, other: &Self) {
        for (name, amount) in &other.amounts {
            let most = self.get(name).map_or(*amount, |own| own.max(*amount));
            self.amounts.insert(name.clone(), most);
        }
        self.unread
            .extend(other.unread.iter().map(|(k, v)| (k.clone(), v.clone())));
    }

    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.amounts.is_empty() && self.unread.is_empty()
    }

    fn read(&mut self, resource: String, text: &str) {
        let parts = if is_cpu(&resource) { 1000 } else { 1 };
        let amount = Quantity::parse(text).map(|quantity| quantity.parts(parts));
        match amount.filter(|amount| *amount >= 0) {
            Some(amount) => {
                self.amounts.insert(resource, amount);
            }
            None => {
                self.unread.insert(
                    resource,
                    text[..text.floor_char_boundary(LONGEST)].to_owned(),
                );
            }
        }
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Resources {
    fn from(pairs: [(&str, &str); N]) -> Self {
        let mut resources = Self::default();
        for (name, quantity) in pairs {
            resources.read(name.to_owned(), quantity);
        }
        resources
    }
}

/// Quotas count `requests.cpu` and `limits.cpu` in thousandths as well.
fn is_cpu(resource: &str) -> bool {
    matches!(resource, "cpu" | "requests.cpu" | "limits.cpu")
}

/// An amount in the scheduler's units as people write it: `1500m`, `16Gi`, `2`.
pub fn words(resource: &str, amount: i64) -> String {
    if is_cpu(resource) {
        return if amount % 1000 == 0 {
            (amount / 1000).to_string()
        } else {
            format!("{amount}m")
        };
    }
    if is_bytes(resource) {
        byte_words(amount)
    } else {
        amount.to_string()
    }
}

/// An amount as the API server prints it: exactly, in the largest unit that it is whole in. A quantity that was written
/// in decimal units (`6G`) is printed in these by the API server, which an amount no longer tells.
pub fn exact_words(resource: &str, amount: i64) -> String {
    if is_cpu(resource) || !is_bytes(resource) {
        return words(resource, amount);
    }
    let whole = UNITS
        .iter()
        .find(|(_, size)| amount >= *size && amount % size == 0);
    whole.map_or_else(
        || amount.to_string(),
        |(unit, size)| format!("{}{unit}", amount / size),
    )
}

const UNITS: [(&str, i64); 4] = [
    ("Ti", 1_i64 << 40),
    ("Gi", 1 << 30),
    ("Mi", 1 << 20),
    ("Ki", 1 << 10),
];

fn is_bytes(resource: &str) -> bool {
    ["memory", "storage", "hugepages-"]
        .iter()
        .any(|part| resource.contains(part))
}

fn byte_words(bytes: i64) -> String {
    for (unit, size) in UNITS {
        if bytes >= size {
            let tenths = (i128::from(bytes) * 10) / i128::from(size);
            return if tenths % 10 == 0 || tenths >= 1000 {
                format!("{}{unit}", tenths / 10)
            } else {
                format!("{}.{}{unit}", tenths / 10, tenths % 10)
            };
        }
    }
    bytes.to_string()
}

impl Serialize for Resources {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let words = self.amounts.iter().map(|(k, v)| (k, words(k, *v)));
        serializer.collect_map(words)
    }
}

impl<'de> Deserialize<'de> for Resources {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Resources;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("quantities by resource")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Resources, A::Error> {
                let mut resources = Resources::default();
                while let Some(name) = map.next_key::<String>()? {
                    match map.next_value::<serde_json::Value>()? {
                        serde_json::Value::String(text) => resources.read(name, &text),
                        other => resources.read(name, &other.to_string()),
                    }
                }
                Ok(resources)
            }
            fn visit_unit<E>(self) -> Result<Resources, E> {
                Ok(Resources::default())
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<Resources, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Resources::default())
            }
        }
        deserializer.deserialize_any(Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(resource: &str, text: &str) -> Option<i64> {
        Resources::from([(resource, text)]).get(resource)
    }

    #[test]
    fn quantities_are_read_as_the_api_server_reads_them() {
        for (resource, text, amount) in [
            ("cpu", "100m", 100),
            ("cpu", "2", 2000),
            ("cpu", "0.1", 100),
            ("cpu", "1n", 1),
            ("memory", "1.5Gi", 1_610_612_736),
            ("memory", "128974848000m", 128_974_848),
            ("memory", "1e3", 1000),
            ("memory", "1E3", 1000),
            ("memory", "1E", 1_000_000_000_000_000_000),
            ("memory", "+.5k", 500),
            ("nvidia.com/gpumem", "20k", 20_000),
            ("nvidia.com/gpu", "1500m", 2),
            ("memory", "9999999999Ei", i64::MAX),
            ("memory", "1e999", i64::MAX),
            ("memory", "0e999", 0),
        ] {
            assert_eq!(read(resource, text), Some(amount), "{text} of {resource}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_kept_as_unread_and_never_taken_for_zero() {
        for text in [
            "", "NaN", "inf", "-1", "1 Gi", "1gi", "1.2.3", "1e", "1e+", "0x10", "1e9999", ".",
        ] {
            let resources = Resources::from([("memory", text)]);
            assert_eq!(resources.get("memory"), None, "{text}");
            assert!(resources.unread.contains_key("memory"), "{text}");
        }
    }

    #[test]
    fn amounts_are_written_as_people_write_them() {
        assert_eq!(words("cpu", 1500), "1500m");
        assert_eq!(words("cpu", 4000), "4");
        assert_eq!(words("memory", 16 << 30), "16Gi");
        assert_eq!(words("memory", 1_610_612_736), "1.5Gi");
        assert_eq!(words("nvidia.com/gpu", 8), "8");
        assert_eq!(exact_words("requests.memory", 1_152 << 20), "1152Mi");
        assert_eq!(exact_words("memory", (1 << 30) + 1), "1073741825");
        assert_eq!(exact_words("requests.cpu", 1500), "1500m");
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "[-+0-9.eEnumkMGTPKi]{0,70}|\\PC{0,20}") {
            let resources = Resources::from([("cpu", text.as_str()), ("memory", text.as_str())]);
            for (name, amount) in resources.iter() {
                proptest::prop_assert!(amount >= 0);
                let _ = words(name, amount);
            }
        }

        #[test]
        fn whole_numbers_keep_their_value(number in 0..i64::MAX) {
            proptest::prop_assert_eq!(read("nvidia.com/gpu", &number.to_string()), Some(number));
        }
    }
}
