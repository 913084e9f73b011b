//! Matches whose answer hangs on earlier packets, where the rules' own counters tell it: a limit that fewer packets
//! have passed than it allows at once, a quota that is not used up, a list that no rule has filled.

use super::explore::Explorer;
use super::way::{Met, Way};
use crate::condition::{Condition, Test, Tri};
use crate::iptables::Rule;

/// Said where a counter settled something.
pub(super) const ASSUMED: &str = "no counter of the rules was set back since they were loaded";

/// What a limit lets pass at once where it does not say so (`xt_limit`, `xt_hashlimit`, nft).
const BURST: u64 = 5;

impl<'a> Explorer<'a> {
    /// The answer of a match on earlier packets, where counters settle it.
    pub(super) fn counted(&self, way: &Way<'a>, rule: &Rule, condition: &Condition) -> Option<Tri> {
        let Test::Opaque { module, text } = &condition.test else {
            return None;
        };
        let words: Vec<&str> = text.split(' ').collect();
        match module.as_str() {
            "recent" => self.listed(way, &words),
            // nft shows what is used.
            "limit" if words.first() == Some(&"quota") => used(&words),
            "limit" | "quota" | "hashlimit" => {
                // What stands behind it may have kept a packet from being counted.
                let last = rule.conditions.last().is_some_and(|last| last == condition);
                let (packets, bytes) = rule.counters.filter(|_| last)?;
                match module.as_str() {
                    "quota" => {
                        let length = way.packet.length.map_or(u64::from(u16::MAX), u64::from);
                        quota(&words, bytes.saturating_add(length))
                    }
                    "hashlimit" => self.per_sender(&words),
                    _ => limit(&words, packets),
                }
            }
            _ => None,
        }
    }

    /// Rules of all tables of iptables that name something.
    fn naming(&self, option: &str, name: &str) -> Vec<&'a Rule> {
        let named = |rule: &&Rule| value(&rule.text, option) == Some(name);
        let sets = self.rules().saved.iter();
        let chains =
            sets.flat_map(|set| set.tables.values().flat_map(|table| table.chains.values()));
        chains
            .flat_map(|chain| chain.rules.iter())
            .filter(named)
            .collect()
    }

    /// `hashlimit --hashlimit-upto 1/sec --hashlimit-burst 5 --hashlimit-name n`: rules of one name share what it counts.
    fn per_sender(&self, words: &[&str]) -> Option<Tri> {
        let upto = after(words, "--hashlimit-upto").or(after(words, "--hashlimit"))?;
        let name = after(words, "--hashlimit-name")?;
        if words.contains(&"!") || upto.contains("b/") {
            return None;
        }
        let burst = after(words, "--hashlimit-burst")
            .map_or(Ok(BURST), str::parse)
            .ok()?;
        let mut passed = 0u64;
        for rule in self.naming("--hashlimit-name", name) {
            // The rule that was loaded first sets the limit for all of the name.
            let others: Vec<&str> = rule.text.split(' ').collect();
            if options(&others) != options(words) {
                return None;
            }
            passed = passed.saturating_add(rule.counters?.0);
        }
        (passed < burst).then_some(Tri::Yes)
    }

    /// `recent --rcheck --name n`: who is not in the list cannot be found there.
    fn listed(&self, way: &Way<'a>, words: &[&str]) -> Option<Tri> {
        let asks = ["--rcheck", "--update", "--remove"];
        if !asks.iter().any(|ask| words.contains(ask)) {
            return None;
        }
        let name = after(words, "--name")?;
        let wanted = after(words, "--hitcount")
            .map_or(Ok(1), str::parse::<u64>)
            .ok()?;
        let fills = |rule: &Rule| rule.text.contains(" --set ") || rule.text.contains(" --update ");
        let mut entered = 0u64;
        for rule in self
            .naming("--name", name)
            .into_iter()
            .filter(|rule| fills(rule))
        {
            // A match behind the list may fail and leave the rule uncounted, although the list was filled.
            let tail = rule.text.rsplit(" --name ").next().unwrap_or_default();
            if tail.contains(" -m ") && !tail.contains(" -m comment ") {
                return None;
            }
            entered = entered.saturating_add(rule.counters?.0);
        }
        let met = self.met(way, &|rule| {
            value(&rule.text, "--name") == Some(name) && fills(rule)
        });
        (entered.saturating_add(met) < wanted).then_some(Tri::of(words.contains(&"!")))
    }

    /// How many rules of a kind the way has met.
    fn met(&self, way: &Way<'a>, wanted: &dyn Fn(&Rule) -> bool) -> u64 {
        let (mut count, mut at) = (0, way.last);
        while let Some(entry) = at.and_then(|at| self.entries.get(at)) {
            count += u64::from(matches!(entry.what, Met::Rule(rule, _) if wanted(rule)));
            at = entry.before;
        }
        count
    }
}

/// `limit --limit 1/sec --limit-burst 1`, `limit rate 5/second burst 5 packets`.
fn limit(words: &[&str], passed: u64) -> Option<Tri> {
    let bytes = |word: &&str| word.ends_with("bytes/second") || word.contains("bytes/");
    if words.contains(&"over") || words.contains(&"name") || words.iter().any(bytes) {
        return None;
    }
    let written = after(words, "--limit-burst").or(after(words, "burst"));
    let burst = written.map_or(Ok(BURST), str::parse).ok()?;
    let known = words.first() == Some(&"limit")
        && words
            .get(1)
            .is_some_and(|one| *one == "--limit" || *one == "rate");
    (known && passed < burst).then_some(Tri::Yes)
}

/// Options of `hashlimit` with their values.
fn options<'a>(words: &[&'a str]) -> Vec<(&'a str, Option<&'a str>)> {
    let ours = words
        .iter()
        .enumerate()
        .filter(|(_, word)| word.starts_with("--hashlimit"));
    ours.map(|(at, word)| (*word, words.get(at + 1).copied()))
        .collect()
}

/// `quota --quota 1000` against what the rule has counted, with this packet.
fn quota(words: &[&str], counted: u64) -> Option<Tri> {
    let allowed: u64 = after(words, "--quota")?.parse().ok()?;
    (counted <= allowed && !words.contains(&"!")).then_some(Tri::Yes)
}

/// `quota over 1023 mbytes used 3 bytes`.
fn used(words: &[&str]) -> Option<Tri> {
    let over = words.get(1) == Some(&"over");
    let at = if over || words.get(1) == Some(&"until") {
        2
    } else {
        1
    };
    let allowed = size(words.get(at)?, words.get(at + 1)?)?;
    let used = match words.iter().position(|word| *word == "used") {
        Some(at) => size(words.get(at + 1)?, words.get(at + 2)?)?,
        None => 0,
    };
    // The listing shows what is used, the packet comes to it.
    let below = used.saturating_add(u64::from(u16::MAX)) < allowed;
    below.then_some(Tri::of(!over))
}

fn size(number: &str, unit: &str) -> Option<u64> {
    let unit = match unit {
        "bytes" => 1,
        "kbytes" => 1 << 10,
        "mbytes" => 1 << 20,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

/// The word behind another.
fn after<'a>(words: &[&'a str], option: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| *word == option)?;
    words.get(at + 1).copied()
}

/// The value of an option in a rule as written.
fn value<'a>(text: &'a str, option: &str) -> Option<&'a str> {
    let mut words = text.split(' ');
    words.find(|word| *word == option)?;
    words.next()
}
