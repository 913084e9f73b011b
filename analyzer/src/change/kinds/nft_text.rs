//! A rule in the text of `nft list ruleset`: where it stands, and how it is found on the node.

/// Which rule is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) family: String,
    pub(super) table: String,
    pub(super) chain: String,
    pub(super) rule: String,
}

/// Where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Line of the text, from 0.
    pub(super) line: usize,
    /// Among the rules of its chain, from 0; none where it is the last.
    pub(super) index: Option<usize>,
    /// The rule without what its counters count.
    pub(super) stateless: String,
}

/// Whether a text can be one rule and nothing else: it ends up behind `nft insert rule`, where a semicolon, a line break
/// or a comment sign would begin something new.
pub(super) fn is_plain(rule: &str) -> bool {
    let rule = rule.trim();
    let known =
        |byte: u8| byte.is_ascii_alphanumeric() || b" \"._:/-@,*!=<>&|{}()%^+".contains(&byte);
    let begins = rule.starts_with(|c: char| c.is_ascii_alphabetic());
    begins && rule.len() < 1024 && rule.bytes().all(known)
}

/// The one line of the chain that is the rule.
pub(super) fn find(text: &str, place: &Rule) -> Result<Found, String> {
    let rules = rules(text, place)?;
    let wanted = stateless(&place.rule);
    let own: Vec<usize> = (0..rules.len())
        .filter(|at| stateless(rules[*at].1) == wanted)
        .collect();
    let [index] = own.as_slice() else {
        return Err(format!(
            "the chain {} holds the rule {:?} {} times, not once",
            place.chain,
            place.rule,
            own.len()
        ));
    };
    Ok(Found {
        line: rules[*index].0,
        index: (index + 1 < rules.len()).then_some(*index),
        stateless: wanted,
    })
}

/// The rules of a chain with their lines. What declares a chain (`type filter hook ...;`, `comment ...`) is none.
fn rules<'t>(text: &'t str, place: &Rule) -> Result<Vec<(usize, &'t str)>, String> {
    let (table, chain) = (
        format!("table {} {} {{", place.family, place.table),
        format!("chain {} {{", place.chain),
    );
    let lines = text.lines().enumerate();
    let mut after = lines.skip_while(|(_, line)| line.trim() != table);
    after
        .next()
        .ok_or_else(|| format!("it has no table {} {}", place.family, place.table))?;
    let of_table = after.take_while(|(_, line)| *line != "}");
    let mut after = of_table.skip_while(|(_, line)| line.trim() != chain);
    after
        .next()
        .ok_or_else(|| format!("the table {} has no chain {}", place.table, place.chain))?;
    let own = after
        .map(|(at, line)| (at, line.trim()))
        .take_while(|(_, line)| *line != "}");
    let mut rules: Vec<(usize, &str)> = own
        .filter(|(_, line)| !line.is_empty() && !line.ends_with(';'))
        .collect();
    // Before its rules a chain may have a comment.
    if rules
        .first()
        .is_some_and(|(_, line)| line.starts_with("comment "))
    {
        rules.remove(0);
    }
    match rules
        .iter()
        .find(|(_, line)| line.matches('{').count() != line.matches('}').count())
    {
        Some((at, _)) => Err(format!(
            "line {}: a rule goes over several lines, so their order is not known",
            at + 1
        )),
        None => Ok(rules),
    }
}

/// A rule as `nft -s` prints it: `counter packets 5 bytes 300` is `counter`.
fn stateless(rule: &str) -> String {
    let words: Vec<&str> = rule.split_whitespace().collect();
    let mut kept: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        kept.push(word);
        let counts = matches!(words.get(at + 1..at + 5), Some(["packets", _, "bytes", _]));
        at += if *word == "counter" && counts { 5 } else { 1 };
    }
    // A handle that was captured is of no use: rules get new ones when they are loaded again.
    match kept.iter().position(|word| *word == "#") {
        Some(at) => kept[..at].join(" "),
        None => kept.join(" "),
    }
}

/// An expression of grep for the rule's line with its handle.
pub(super) fn pattern(rule: &str) -> String {
    let special = |c: char| r".[]*^$\+?(){}|".contains(c);
    let escaped: String = rule
        .chars()
        .flat_map(|c| special(c).then_some('\\').into_iter().chain([c]))
        .collect();
    format!("[[:space:]]*{escaped} # handle [0-9]+")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "table ip own {\n\tchain forward {\n\t\tdrop\n\t}\n}\ntable inet own {\n\tset a {\n\t\ttype ipv4_addr\n\t}\n\tchain forward {\n\t\ttype filter hook forward priority filter; policy accept;\n\t\tct state established accept\n\t\tiifname \"cni0\" counter packets 5 bytes 300 drop\n\t\toifname \"cni0\" accept\n\t}\n\tchain other {\n\t\tdrop\n\t}\n}\n";

    fn of(chain: &str, rule: &str) -> Result<Found, String> {
        let place = Rule {
            family: "inet".into(),
            table: "own".into(),
            chain: chain.into(),
            rule: rule.into(),
        };
        find(TEXT, &place)
    }

    #[test]
    fn a_rule_is_found_by_its_words_whatever_its_counter_counted() {
        let found = of("forward", "iifname \"cni0\" counter packets 9 bytes 9 drop").unwrap();
        assert_eq!((found.line, found.index), (12, Some(1)));
        assert_eq!(found.stateless, "iifname \"cni0\" counter drop");
        assert_eq!(of("other", "drop").unwrap().index, None);
    }

    #[test]
    fn a_rule_that_is_not_there_once_is_refused() {
        assert!(of("forward", "drop").unwrap_err().contains("0 times"));
        assert!(of("none", "drop").unwrap_err().contains("no chain none"));
    }

    #[test]
    fn what_would_begin_another_statement_is_no_rule() {
        assert!(is_plain("ip saddr @a tcp dport { 80, 443 } drop"));
        for bad in [
            "drop; flush ruleset",
            "drop\nflush ruleset",
            "-f x",
            "drop # x",
            "include \"$(x)\"",
            "drop \\",
        ] {
            assert!(!is_plain(bad), "{bad}");
        }
    }

    #[test]
    fn the_expression_matches_the_line_and_no_longer_one() {
        let own = regex::Regex::new(
            &format!("^{}$", pattern("ip saddr 10.0.0.1 drop")).replace("[[:space:]]", r"\s"),
        )
        .unwrap();
        assert!(own.is_match("\t\tip saddr 10.0.0.1 drop # handle 4"));
        assert!(!own.is_match("\t\ttcp dport 80 ip saddr 10.0.0.1 drop # handle 4"));
        assert!(!own.is_match("\t\tip saddr 10.0.001 drop # handle 4"));
    }
}
