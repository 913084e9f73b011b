//! Matches whose answer hangs on earlier packets, where the rules' own counters tell it: a limit that fewer packets
//! have passed than it allows at once, a quota that is not used up, a list that no rule has filled.

use std::cmp::Ordering;

use super::explore::Explorer;
use super::gifts::Gift;
use super::take::harmless;
use super::way::{Met, Way};
use crate::condition::{Condition, Test, Tri};
use crate::iptables::{Rule, Target};
use crate::packet::CtState;

/// Said where a counter settled something.
pub(super) const ASSUMED: &str = "no counter of the rules was set back since they were loaded";

/// What a limit lets pass at once where it does not say so (`xt_limit`, `xt_hashlimit`, nft).
const BURST: u64 = 5;

/// The most bytes that a packet has.
const MOST: u64 = 65_535;

impl<'a> Explorer<'a> {
    /// The answer of a match on earlier packets, where counters settle it.
    pub(super) fn counted(&self, way: &Way<'a>, rule: &Rule, condition: &Condition) -> Option<Tri> {
        let Test::Opaque { module, text } = &condition.test else {
            return None;
        };
        let words: Vec<&str> = text.split(' ').collect();
        let length = way.packet.length.map_or(MOST, u64::from);
        // What stands behind it may have kept a packet from being counted.
        let last = rule.conditions.last().is_some_and(|last| last == condition);
        let passed = rule.counters.filter(|_| last);
        match module.as_ref() {
            "recent" => self.listed(way, &words),
            "connlimit" => self.connections(way, &words),
            "connlabel" => self.labelled(way, &words),
            "socket" => self.socket(&way.packet, &words),
            "listener" => self.listener(&way.packet, &words),
            // nft shows what is used.
            "limit" if words.first() == Some(&"quota") => used(&words, length),
            "quota" => quota(&words, passed, reached(way), length),
            "hashlimit" if words.contains(&"--hashlimit-above") => above(&words, reached(way)?.0),
            "hashlimit" => passed.and_then(|_| self.per_sender(&words, length)),
            "limit" => limit(&words, passed, length),
            _ => None,
        }
    }

    /// `connlabel --label 40`, `connlabel --label 40 --set`: a connection that begins has no label, unless a rule gives it
    /// one.
    fn labelled(&self, way: &Way<'a>, words: &[&str]) -> Option<Tri> {
        let negated = words.contains(&"!");
        let tracked = way.packet.connection.as_deref().filter(|_| !way.untracked);
        let begins = tracked.is_some_and(|one| !one.reply) && self.begins();
        match (begins, words.contains(&"--set")) {
            (true, true) => Some(Tri::of(!negated)),
            (true, false) if !self.rules().gives(Gift::Label) => Some(Tri::of(negated)),
            _ => None,
        }
    }

    /// The packet is the first of its connection in any state that it may have.
    pub(super) fn begins(&self) -> bool {
        self.states.iter().all(|state| *state == CtState::New)
    }

    /// `connlimit --connlimit-above 10`: the packet's own connection is one of those that count, and each other was a
    /// packet that came to the rule. A packet of a connection that is known already is counted otherwise
    /// (`nf_conncount_count_skb`).
    fn connections(&self, way: &Way<'a>, words: &[&str]) -> Option<Tri> {
        /// More than a table of connections holds.
        const ALL: u64 = 1 << 31;
        let (above, limit) = match (
            after(words, "--connlimit-above"),
            after(words, "--connlimit-upto"),
        ) {
            (Some(limit), None) => (true, limit),
            (None, Some(limit)) => (false, limit),
            _ => return None,
        };
        if !self.begins() {
            return None;
        }
        match limit.parse::<u64>().ok()? {
            0 => Some(Tri::of(above)),
            limit if limit >= ALL => Some(Tri::of(!above)),
            limit => (reached(way)?.0 < limit).then_some(Tri::of(!above)),
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
    fn per_sender(&self, words: &[&str], length: u64) -> Option<Tri> {
        /// Bytes are counted in pieces of this size, the last one whole (`XT_HASHLIMIT_BYTE_SHIFT`).
        const PIECE: u64 = 16;
        let upto = after(words, "--hashlimit-upto").or(after(words, "--hashlimit"))?;
        let name = after(words, "--hashlimit-name")?;
        if words.contains(&"!") {
            return None;
        }
        let mut passed = (0u64, 0u64);
        for rule in self.naming("--hashlimit-name", name) {
            // The rule that was loaded first sets the limit for all of the name.
            let others: Vec<&str> = rule.text.split(' ').collect();
            if options(&others) != options(words) {
                return None;
            }
            let (packets, bytes) = rule.counters?;
            passed.0 = passed.0.saturating_add(packets);
            passed.1 = passed.1.saturating_add(bytes);
        }
        let burst = after(words, "--hashlimit-burst");
        let fits = if upto.contains("b/") {
            let pieces = (passed.0 + 1).saturating_mul(PIECE);
            passed.1.saturating_add(length).saturating_add(pieces) <= in_bytes(burst?)?
        } else {
            passed.0 < burst.map_or(Ok(BURST), str::parse).ok()?
        };
        fits.then_some(Tri::Yes)
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

/// `limit --limit 1/sec --limit-burst 1`, `limit rate 5/second burst 5 packets`, `limit rate 1 mbytes/second`, of which at
/// least a second's worth passes at once.
fn limit(words: &[&str], passed: Option<(u64, u64)>, length: u64) -> Option<Tri> {
    if words.contains(&"name") {
        return None;
    }
    let over = words.contains(&"over");
    let plain: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| *word != "over")
        .collect();
    if let ["limit", "rate", amount, unit, ..] = plain.as_slice()
        && let Some((unit, _)) = unit.split_once('/')
    {
        // The bucket holds what passes in a unit of time, and the burst; what is larger than that never fits.
        let burst = match plain.iter().position(|word| *word == "burst") {
            Some(at) => size(plain.get(at + 1)?, plain.get(at + 2)?)?,
            None => 0,
        };
        let at_once = size(amount, unit)?.saturating_add(burst);
        if length > at_once && length < MOST {
            return Some(Tri::of(over));
        }
        let fits = !over && passed?.1.saturating_add(length) <= at_once;
        return fits.then_some(Tri::Yes);
    }
    if over {
        return None;
    }
    let written = after(words, "--limit-burst").or(after(words, "burst"));
    let burst = written.map_or(Ok(BURST), str::parse).ok()?;
    let known = words.first() == Some(&"limit")
        && words
            .get(1)
            .is_some_and(|one| *one == "--limit" || *one == "rate");
    (known && passed?.0 < burst).then_some(Tri::Yes)
}

/// `hashlimit --hashlimit-above 1/sec --hashlimit-burst 5`: what is not more than passes at once is not above.
fn above(words: &[&str], reached: u64) -> Option<Tri> {
    let rate = after(words, "--hashlimit-above")?;
    let burst = after(words, "--hashlimit-burst")
        .map_or(Ok(BURST), str::parse)
        .ok()?;
    let plain = !words.contains(&"!") && !rate.contains("b/");
    (plain && reached < burst).then_some(Tri::No)
}

/// The most packets and bytes that any rule of a base chain has seen: what ended there or went on elsewhere.
fn reached(way: &Way<'_>) -> Option<(u64, u64)> {
    let (_, chain) = way.frames.last()?;
    let mut all = chain.policy.as_ref()?.counters?;
    for rule in &chain.rules {
        if harmless(&rule.target) || matches!(rule.target, Target::SetMark { .. }) {
            continue;
        }
        let (packets, bytes) = rule.counters?;
        all = (all.0.saturating_add(packets), all.1.saturating_add(bytes));
    }
    Some(all)
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

/// `quota --quota 1000`: the first packet that is more than what is left takes that as well (`net/netfilter/xt_quota.c`).
fn quota(
    words: &[&str],
    passed: Option<(u64, u64)>,
    reached: Option<(u64, u64)>,
    length: u64,
) -> Option<Tri> {
    /// More than any counter comes to.
    const ENDLESS: u64 = 1 << 60;
    let allowed: u64 = after(words, "--quota")?.parse().ok()?;
    let negated = words.contains(&"!");
    let within = Some(Tri::of(!negated));
    let over = Some(Tri::of(negated));
    let fits = |(_, bytes): (u64, u64), length: u64| bytes.saturating_add(length) <= allowed;
    if allowed >= ENDLESS || reached.is_some_and(|all| fits(all, length)) {
        return within;
    }
    match (allowed, negated, passed) {
        (0, ..) => over,
        // What a rule has counted is over the quota already, or within it.
        (_, true, Some((packets, _))) => over.filter(|_| packets > 0),
        (_, false, Some(counted)) if fits(counted, MOST) => within,
        (_, false, Some(counted)) => over.filter(|_| !fits(counted, length)),
        _ => None,
    }
}

/// `quota over 1023 mbytes used 3 bytes`.
fn used(words: &[&str], length: u64) -> Option<Tri> {
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
    // The listing shows what is used, the packet comes to it. Releases differ in what is exactly the quota.
    match used.saturating_add(length).cmp(&allowed) {
        Ordering::Less => Some(Tri::of(!over)),
        Ordering::Greater if length < MOST => Some(Tri::of(over)),
        _ => None,
    }
}

/// `400kb`, `1mb`, `500b`.
fn in_bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "b" => "bytes",
        "kb" => "kbytes",
        "mb" => "mbytes",
        _ => return None,
    };
    size(digits, unit)
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
