//! Ids, sums and numbers that programs draw are evidence of nothing, whatever letters stand in them by chance.

use std::collections::BTreeSet;

use casefile_analyzer::diagnose::Analyzer;

use crate::Files;

/// Lines of each kind of log: so many that what one id of ten thousand shows is seen.
const LINES: usize = 20_000;

/// Draws the same letters each time (xorshift).
struct Draw(u64);

impl Draw {
    fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn letters(&mut self, alphabet: &[u8], length: usize) -> String {
        let letter = |at: u64| char::from(alphabet[usize::try_from(at).unwrap() % alphabet.len()]);
        (0..length).map(|_| letter(self.number() >> 20)).collect()
    }

    fn hex(&mut self, length: usize) -> String {
        self.letters(b"0123456789abcdef", length)
    }

    fn uuid(&mut self) -> String {
        let variant = self.letters(b"89ab", 1);
        let parts = [8, 4, 3, 3, 12].map(|length| self.hex(length));
        let [first, second, third, fourth, last] = parts;
        format!("{first}-{second}-4{third}-{variant}{fourth}-{last}")
    }

    /// The end of a pod's name.
    fn suffix(&mut self) -> String {
        self.letters(b"bcdfghjklmnpqrstvwxz2456789", 5)
    }

    fn any(&mut self, length: usize) -> String {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        self.letters(alphabet, length)
    }

    fn line(&mut self, kind: usize) -> String {
        match kind % 5 {
            0 => format!(
                "volume of web-{}-{} is {} in {}",
                self.hex(9),
                self.suffix(),
                self.uuid(),
                self.uuid().to_uppercase()
            ),
            1 => format!("layer sha256:{} of {}", self.hex(64), self.uuid()),
            2 => format!(
                "request {} span {} of {} etag {}",
                self.hex(32),
                self.hex(16),
                self.any(22),
                self.hex(40)
            ),
            3 => format!(
                "veth{} lxc{} fe80::{}:{}",
                self.hex(8),
                self.hex(12),
                self.hex(4),
                self.hex(4)
            ),
            _ => format!(
                "{} of {}_{}.{} after {}",
                self.number() % 100_000,
                self.any(11),
                self.hex(6),
                self.hex(4),
                self.number() % 1_000_000_000
            ),
        }
    }
}

#[test]
fn no_signal_is_seen_in_what_was_drawn() {
    let rules = crate::shipped_rules();
    let expressions: Vec<String> = rules
        .patterns
        .iter()
        .map(|one| one.regex.as_str().to_owned())
        .collect();
    let mut draw = Draw(20_261_201);
    let mut lines = || (0..LINES).map(|kind| draw.line(kind)).collect::<Vec<_>>();
    let record = |said: &String| format!("{{\"MESSAGE\":\"{said}\",\"_HOSTNAME\":\"n1\"}}\n");
    let journal: String = lines().iter().map(record).collect();
    let log: String = lines().iter().map(|said| format!("{said}\n")).collect();
    let inputs = [
        Files::from([
            ("nodes/n1/journal/kernel.json".to_owned(), journal.into()),
            (
                "cluster-resources/pods/logs/shop/web-1/app.log".to_owned(),
                log.clone().into(),
            ),
        ]),
        Files::from([("paste.txt".to_owned(), log.into())]),
    ];
    let analyzer = Analyzer::new(rules).unwrap();
    let mut seen = BTreeSet::new();
    for files in &inputs {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let scanned = analyzer.read(folder.path()).unwrap();
        assert_eq!(scanned.paths.len(), files.len());
        let hits = scanned.hits.iter();
        seen.extend(hits.map(|hit| (&*expressions[hit.pattern], hit.text.to_string())));
    }
    assert!(seen.is_empty(), "{seen:#?}");
}

/// Letters and digits of an expression that stand together and are short enough to stand in some id by chance.
fn short_words(expression: &str) -> BTreeSet<String> {
    let words = expression.split(|letter: char| !letter.is_ascii_alphanumeric());
    let short = words.filter(|word| (2..=5).contains(&word.len()));
    short.map(str::to_owned).collect()
}

#[test]
fn no_signal_is_seen_in_letters_that_stand_in_an_id() {
    let rules = crate::shipped_rules();
    let mut seen = BTreeSet::new();
    for pattern in &rules.patterns {
        for word in short_words(pattern.regex.as_str()) {
            let ids = [
                format!("4Zk{word}9qX"),
                format!("5395a8ce-3be0-4895-{word}-f8dbb7adbeb3"),
            ];
            let is_hex = word.len() == 4 && word.bytes().all(|one| one.is_ascii_hexdigit());
            let ids = &ids[..if is_hex { 2 } else { 1 }];
            let found = ids.iter().filter(|id| pattern.regex.is_match(id));
            seen.extend(found.map(|id| (pattern.regex.as_str().to_owned(), id.clone())));
        }
    }
    assert!(seen.is_empty(), "{seen:#?}");
}
