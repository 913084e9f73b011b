//! From `-m set --match-set NAME src,dst` to look-ups in what was listed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::member::Part;
use super::{IpSet, IpSets};
use crate::condition::field::Field;
use crate::condition::lookup::{Lookup, Masked};
use crate::condition::set::Set;
use crate::condition::{Condition, Test};
use crate::iptables::RuleSet;
use crate::packet::Family;

/// Sets of ports and of hardware addresses hold for both families.
fn any_family(parts: &[Part]) -> bool {
    parts
        .iter()
        .all(|part| matches!(part, Part::PlainPort | Part::Mac))
}

impl IpSets {
    /// Gives every set match of a rule set the contents that were listed. A set
    /// that was not listed stays undecidable.
    pub fn resolve(&self, rules: &mut RuleSet) {
        let family = rules.family;
        let mut known: BTreeMap<String, Arc<Set>> = BTreeMap::new();
        let chains = rules
            .tables
            .values_mut()
            .flat_map(|t| t.chains.values_mut());
        for rule in chains.flat_map(|chain| &mut chain.rules) {
            for condition in &mut rule.conditions {
                if let Test::Opaque { module, text } = &condition.test
                    && **module == *"set"
                    && let Some(found) = self.condition(text, family, &mut known)
                {
                    *condition = found;
                }
            }
        }
    }

    fn condition(
        &self,
        text: &str,
        family: Family,
        known: &mut BTreeMap<String, Arc<Set>>,
    ) -> Option<Condition> {
        let words: Vec<&str> = text.split(' ').collect();
        let (negated, name, flags) = match words.as_slice() {
            ["set", "--match-set", name, flags] => (false, *name, *flags),
            ["set", "!", "--match-set", name, flags] => (true, *name, *flags),
            _ => return None,
        };
        let flags: Vec<&str> = flags.split(',').collect();
        let set = self.sets.get(name)?;
        let names: Vec<&str> = match set.parts.as_deref()? {
            [Part::Set] => set.members.iter().map(String::as_str).collect(),
            _ => vec![name],
        };
        let mut lookups = Vec::new();
        for name in names {
            let set = self.sets.get(name)?;
            // A list may hold sets of both families; only those of the packet's are asked.
            if set.six != (family == Family::V6) && !any_family(set.parts.as_deref()?) {
                continue;
            }
            let held = known
                .entry(name.to_owned())
                .or_insert_with(|| Arc::new(set.set(name)));
            lookups.push(lookup(set, &flags, family, Arc::clone(held), name)?);
        }
        Some(Condition {
            negated,
            test: Test::AnyOf(lookups),
        })
    }
}

fn lookup(
    set: &IpSet,
    flags: &[&str],
    family: Family,
    held: Arc<Set>,
    name: &str,
) -> Option<Lookup> {
    let parts = set.parts.as_deref()?;
    let mut fields: Vec<Masked> = Vec::new();
    for (part, flag) in parts.iter().zip(flags) {
        let source = match *flag {
            "src" => true,
            "dst" => false,
            _ => return None,
        };
        let of = |yes: Field, no: Field| Masked::from(if source { yes } else { no });
        let field = match part {
            Part::Address | Part::Network => of(Field::Source(family), Field::Destination(family)),
            Part::Port => {
                fields.push(Masked::from(Field::Protocol));
                Masked::from(Field::SetPort {
                    source,
                    plain: false,
                })
            }
            Part::PlainPort => Masked::from(Field::SetPort {
                source,
                plain: true,
            }),
            Part::Mac => of(Field::SourceMac, Field::DestinationMac),
            Part::Mark => match set.markmask {
                Some(mask) => Masked::bits(Field::Mark, mask.into()),
                None => Masked::from(Field::Mark),
            },
            Part::Interface => of(Field::InInterface, Field::OutInterface),
            Part::Set => return None,
        };
        fields.push(field);
    }
    (flags.len() >= parts.len()).then(|| Lookup {
        fields,
        set: held,
        name: format!("ipset {name}"),
    })
}
