//! Ages as kubectl prints them, relative to a moment that the text does not tell.

/// Seconds of a unit, as `k8s.io/apimachinery/pkg/util/duration` prints them.
fn unit(letter: u8) -> Option<i64> {
    match letter {
        b's' => Some(1),
        b'm' => Some(60),
        b'h' => Some(3600),
        b'd' => Some(86_400),
        b'y' => Some(365 * 86_400),
        _ => None,
    }
}

/// Seconds of an age such as `67s`, `2m30s`, `3h` or `10m (x4 over 2h)`; none for anything else.
pub(super) fn seconds(cell: &str) -> Option<i64> {
    let age = cell.split_whitespace().next()?;
    let mut total: i64 = 0;
    let mut number: Option<i64> = None;
    for byte in age.bytes() {
        number = match byte {
            b'0'..=b'9' => {
                let digit = i64::from(byte - b'0');
                Some(number.unwrap_or(0).checked_mul(10)?.checked_add(digit)?)
            }
            letter => {
                total = total.checked_add(number?.checked_mul(unit(letter)?)?)?;
                None
            }
        };
    }
    (number.is_none() && !age.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn ages_are_read_as_kubectl_prints_them() {
        assert_eq!(seconds("67s"), Some(67));
        assert_eq!(seconds("2m30s"), Some(150));
        assert_eq!(seconds("3d4h"), Some(3 * 86_400 + 4 * 3600));
        assert_eq!(seconds("3m (x4 over 10m)"), Some(180));
        for other in ["", "<unknown>", "12", "m", "5x", "99999999999999999999s"] {
            assert_eq!(seconds(other), None, "{other}");
        }
    }
}
