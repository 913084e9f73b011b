//! What changed from release to release: a package's changelog, or the log of its sources. It names faults that were mended.

/// Entries that such a text has at least where its first line does not tell.
const LEAST: usize = 2;

/// Whether a text is a changelog as Debian or RPM write it, or what `git log` prints.
pub(super) fn is_history(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(is_debian)
        || text.lines().filter(|line| is_rpm(line)).count() >= LEAST
        || commits(&text) >= LEAST
}

/// `systemd (252.39-1~deb12u1) bookworm; urgency=medium`.
fn is_debian(line: &str) -> bool {
    let head = line.split_once(") ").map(|(head, _)| head);
    head.is_some_and(|head| head.contains(" (") && !head.starts_with(' '))
        && line.contains("; urgency=")
}

/// `* Tue Jan 09 2024 A Name <name@example.org> - 1.2.3-4`.
fn is_rpm(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("* ") else {
        return false;
    };
    let mut words = rest.split_whitespace();
    let capital = |word: Option<&str>| {
        word.is_some_and(|word| word.len() == 3 && word.starts_with(char::is_uppercase))
    };
    let number = |word: Option<&str>| word.is_some_and(|word| word.parse::<u16>().is_ok());
    let dated = capital(words.next())
        && capital(words.next())
        && number(words.next())
        && number(words.next());
    dated && rest.contains('@')
}

/// How many times `commit <id>` stands above `Author:`.
fn commits(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let is_commit = |line: &str| {
        let id = line.strip_prefix("commit ").unwrap_or("");
        let id = id.split(' ').next().unwrap_or("");
        id.len() == 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let pairs = lines.windows(3).filter(|lines| {
        is_commit(lines[0]) && lines[1..].iter().any(|line| line.starts_with("Author: "))
    });
    pairs.count()
}

#[cfg(test)]
mod tests {
    use super::is_history;

    #[test]
    fn changelogs_and_logs_of_sources_are_told_from_logs_of_programs() {
        let debian = "shop (1.2-3) stable; urgency=medium\n\n  * Fix kernel panic.\n";
        let rpm = "* Tue Jan 09 2024 A B <a@example.org> - 1.2-3\n- fix oops\n\n* Mon Jan 08 2024 A B <a@example.org> - 1.2-2\n- build\n";
        let id = "0123456789abcdef0123456789abcdef01234567";
        let git = format!("commit {id}\nAuthor: A <a@example.org>\nDate:   x\n\n    Fix hang\n")
            .repeat(2);
        for text in [debian, rpm, &git] {
            assert!(is_history(text.as_bytes()), "{text}");
        }
        for text in [
            "Nov 20 10:00:00 n1 kernel: panic (1) now; urgency\n",
            "* Tue Jan 09 is a day\n* Mon Jan 08 2024 too\n",
            "commit failed\nAuthor: none\n",
            "",
        ] {
            assert!(!is_history(text.as_bytes()), "{text}");
        }
    }
}
