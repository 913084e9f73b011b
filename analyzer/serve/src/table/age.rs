//! How long ago something was, in the words of `kubectl get`.

use chrono::{DateTime, Utc};

/// A span of time as apimachinery's `duration.HumanDuration` writes it: two units at most, the finer one only while it matters.
pub(crate) fn human(seconds: i64) -> String {
    let two = |large: i64, unit: &str, small: i64, lesser: &str| match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit}{small}{lesser}"),
    };
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => two(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

/// Time from a moment to now; of no moment, that it is not known.
pub(crate) fn since(moment: Option<DateTime<Utc>>, now: DateTime<Utc>) -> String {
    moment.map_or_else(|| "<unknown>".to_owned(), |moment| between(moment, now))
}

/// Time between two moments.
pub(crate) fn between(from: DateTime<Utc>, to: DateTime<Utc>) -> String {
    human((to - from).num_seconds())
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn units_change_where_kubectl_changes_them() {
        let cases = [
            (-2, "<invalid>"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (599, "9m59s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_860, "3h1m"),
            (28_800, "8h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (180_000, "2d2h"),
            (691_200, "8d"),
            (63_072_000, "2y"),
            (70_000_000, "2y80d"),
            (300_000_000, "9y"),
        ];
        for (seconds, text) in cases {
            assert_eq!(human(seconds), text, "{seconds}");
        }
    }
}
