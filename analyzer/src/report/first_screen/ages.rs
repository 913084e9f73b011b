//! What the ages in rows of listings say, which bear no date.

use crate::form::Form;
use crate::words;

/// How a time begins before which nothing can have begun.
pub(super) const AT_MOST: &str = "At most";

/// What the ages of rows say: of events the oldest counts, else the first row of a pod.
pub(super) fn of<'a>(mut lines: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let oldest = lines
        .clone()
        .filter_map(aged)
        .max_by_key(|age| words::age(age));
    match oldest {
        Some(age) => Some(format!("{age} {UNDATED}")),
        None => lines.find_map(|line| of_pod(line).or_else(|| of_container(line))),
    }
}

/// What the age of a container says in a row of `crictl ps -a`, of the one that was made last.
fn of_container(line: &str) -> Option<String> {
    let found = CONTAINER.captures(line)?;
    let (age, attempt) = (found.name("age")?.as_str(), found.name("attempt")?.as_str());
    let before: u64 = attempt.parse().ok()?;
    (before > 0).then(|| {
        format!(
            "{AT_LATEST} {age} before the listing was made: then container {} of it was created",
            before + 1
        )
    })
}

/// How a time begins after which it cannot have begun.
const AT_LATEST: &str = "At the latest";

/// `0862aaf3f2710  aa93e6c2f7f98  44 seconds ago  Exited  mnist-gpu  11  9c576eb7c19cd  mnist-gpu-cf678c46f-hbcmv`.
static CONTAINER: Form = Form::new(
    r"^\s*[0-9a-f]{12,}\s+\S+\s+(?P<age>(?:About )?(?:an?|\d+) \w+) ago\s+[A-Z][a-z]+\s+\S+\s+(?P<attempt>\d+)\s",
);

/// Said of an age.
const UNDATED: &str = "before the listing was made, which has no date";

/// What the age of a pod says.
fn of_pod(line: &str) -> Option<String> {
    let age = POD.captures(line)?;
    Some(format!(
        "{AT_MOST} {} {UNDATED}: the pod is that old",
        age.name("age")?.as_str()
    ))
}

/// The age of a pod in its row of `kubectl get pods`.
static POD: Form = Form::new(
    r"\s\d+/\d+\s+[A-Z][\w:/.-]+\s+\d+(?: \([^()]{1,24} ago\))?\s+(?P<age>(?:\d+[smhdy]){1,2})(?:\s|$)",
);

/// How old an event is in a row that kubectl printed: `Warning  Failed  71s (x27 over 28m)  kubelet  ...` of `describe`,
/// `28m  Warning  Failed  pod/web-0  ...` of `get events`, `2m  3h  41  web-0.15c1  Pod ...  Warning ...` of older ones.
/// Of one that came again the first time counts.
fn aged(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if let [last, first, count, ..] = words.as_slice()
        && words::is_age(last)
        && words::is_age(first)
        && count.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Some(first);
    }
    let kind = words
        .iter()
        .position(|word| ["Warning", "Normal"].contains(word))?;
    let described = words.get(kind + 2).filter(|word| words::is_age(word));
    let Some(last) = described else {
        let seen = words.get(kind.checked_sub(1)?)?;
        return words::is_age(seen).then_some(seen);
    };
    match words.get(kind + 3..kind + 6) {
        Some([times, "over", since]) if times.starts_with("(x") => {
            let since = since.trim_end_matches(')');
            words::is_age(since).then_some(since)
        }
        _ => Some(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_event_counts_and_of_one_that_came_again_its_first_time() {
        let rows = [
            "17m  22m  265  web-0.1550f469  Pod  Warning  FailedCreatePodSandBox  kubelet, n1  Failed",
            "2m   3h   41   web-1.1550f470  Pod  Warning  FailedCreatePodSandBox  kubelet, n1  Failed",
            "28m  Warning  Failed  pod/web-0  Error: x",
        ];
        let told = of(rows.into_iter()).unwrap();
        assert!(told.starts_with("3h before the listing"), "{told}");
        let described = "  Warning  BackOff  71s (x27 over 28m)  kubelet  Back-off";
        let told = of(std::iter::once(described)).unwrap();
        assert!(told.starts_with("28m before"), "{told}");
        let pod = "a  web-0  0/1  ImagePullBackOff  0  9h";
        let told = of(std::iter::once(pod)).unwrap();
        assert!(told.starts_with("At most 9h before"), "{told}");
        assert_eq!(of(std::iter::once("3 of 4 pods run")), None);
        let row = |attempt: u32| {
            let row = format!(
                "0862aaf3f2710  aa93e6c2f7f98  44 seconds ago  Exited  web  {attempt}  9c576eb7c19cd  web-0"
            );
            of(std::iter::once(row.as_str()))
        };
        let told = row(11).unwrap();
        assert!(
            told.starts_with("At the latest 44 seconds before"),
            "{told}"
        );
        assert_eq!(row(0), None, "it did not fail before");
    }
}
