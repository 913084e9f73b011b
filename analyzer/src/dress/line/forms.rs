//! The forms of what stands before messages.

use crate::form::Form;

/// `Nov 20 10:00:00 gpu-1 kubelet[812]: `, with any word for the month, a fraction or a year.
pub(super) static SYSLOG: Form = Form::new(
    r"^(?:<\d{1,3}>)?(?P<month>\d{1,2}\S{0,2}|\S{3,9}\.?) {1,2}(?P<day>\d{1,2}) (?:\d{4} )?(?P<time>\d\d:\d\d:\d\d)(?:\.\d+)? (?P<host>[\w.-]+) (?P<speaker>[^\s\[\]:]+(?:/[^\s\[\]:]+)?)(?:\[\d+\])?: ?",
);
/// `gpu-1 kubelet[812]: ` behind a time, and `[  12.345678] gpu-1 kubelet[812]: ` without its clock.
pub(super) static HOSTED: Form =
    Form::new(r"^(?P<host>[\w.-]+) (?P<speaker>[A-Za-z_(][^\s\[\]:]*)(?:\[\d+\])?: ?");
/// The kernel's clock: seconds since the boot with six digits, or the date of `dmesg -T`.
pub(super) static KERNEL: Form = Form::new(
    r"^(?:<\d{1,3}>|(?:kern|user|daemon|syslog) *:\w+ *: )?\[(?: *\d+\.\d{6}|\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4})\](?:\[ *[TC]\d+\])? ",
);
/// Facility and level in words, as `dmesg -x` (`--decode`) puts them before its clock.
pub(super) static DECODED: Form = Form::new(
    r"^(?:kern|user|mail|daemon|auth|syslog) *:(?P<level>emerg|alert|crit|err|warn|notice|info|debug) *: ",
);
/// X.Org's clock has three digits, and a mark for the level behind it.
pub(super) static XORG: Form =
    Form::new(r"^(?:\[ *\d+\.\d{3}\] )?\((?P<level>II|WW|EE|==|--|\*\*|!!|NI|\?\?)\) ");
pub(super) static KLOG: Form = Form::new(
    r"^(?P<level>[DIWEF])(?P<month>\d\d)(?P<day>\d\d) (?P<time>\d\d:\d\d:\d\d)\.\d+ +\d+ [\w./-]+:\d+\]",
);
/// A date and a time without a zone, as etcd 3.4, Calico, Python and Fabric Manager write them.
pub(super) static DATED: Form = Form::new(
    r"^\[?\w{0,3} ?\w{0,3} ?\d{2,4}[-/]\d\d[-/]\d{2,4}[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?\]? ",
);
/// A level as a word near the beginning of a line.
pub(super) static WORD: Form = Form::new(
    r#"(?:^|[\s\[(|<*-])(?P<level>DEBUG|TRACE|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|CRIT|PANIC|EMERG|SEVERE|[DINWEC](?: \|))(?:$|[\s\])|>:*-])"#,
);
/// The same as a field.
pub(super) static FIELD: Form =
    Form::new(r#"(?i)\b(?:level|lvl|severity|L)"?[=:] ?"?(?P<level>[a-z]+)\b"#);

/// What lines of a form begin with: most lines have another form, and meet no expression.
pub(super) mod begins {
    /// `Nov 20 `: a short word, one or two blanks, one or two digits, a blank.
    pub(in crate::dress::line) fn syslog(line: &[u8]) -> bool {
        // A mark for priority, and a month's name of nine characters with a point.
        const LONGEST: usize = 5 + 9 * 4 + 1;
        let head = &line[..line.len().min(LONGEST + 5)];
        let Some(blank) = memchr::memchr(b' ', head).filter(|at| *at > 0) else {
            return false;
        };
        let behind = &head[blank + 1..];
        let behind = behind.strip_prefix(b" ").unwrap_or(behind);
        matches!(
            behind,
            [b'0'..=b'9', b' ', ..] | [b'0'..=b'9', b'0'..=b'9', b' ', ..]
        )
    }

    /// `gpu-1 kubelet[`, `gpu-1 kubelet: `: two words with one blank between, and a bracket or a colon behind.
    pub(in crate::dress::line) fn hosted(line: &[u8]) -> bool {
        let is_host = |byte: &u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-') || !byte.is_ascii()
        };
        let is_speaker = |byte: &u8| !byte.is_ascii_whitespace() && !b"[]:".contains(byte);
        let host = line.iter().take_while(|byte| is_host(byte)).count();
        let Some([b' ', speaker @ ..]) = line.get(host..).filter(|_| host > 0) else {
            return false;
        };
        let length = speaker.iter().take_while(|byte| is_speaker(byte)).count();
        length > 0 && matches!(speaker.get(length), Some(b'[' | b':'))
    }

    /// `[`, or facility and level in front of it.
    pub(in crate::dress::line) fn kernel(line: &[u8]) -> bool {
        matches!(line.first(), Some(b'[' | b'<' | b'k' | b'u' | b'd' | b's'))
    }

    /// A facility in words.
    pub(in crate::dress::line) fn facility(line: &[u8]) -> bool {
        matches!(line.first(), Some(b'k' | b'u' | b'm' | b'd' | b'a' | b's'))
    }

    /// `I1120 `.
    pub(in crate::dress::line) fn klog(line: &[u8]) -> bool {
        matches!(line, [b'D' | b'I' | b'W' | b'E' | b'F', b'0'..=b'9', ..])
    }

    /// A digit with a dash or a slash behind it, in the first words.
    pub(in crate::dress::line) fn dated(line: &[u8]) -> bool {
        const LONGEST: usize = 40;
        let head = &line[..line.len().min(LONGEST)];
        let mut pairs = head.windows(2);
        pairs.any(|pair| matches!(pair, [b'0'..=b'9', b'-' | b'/']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_line_of_a_form_begins_as_lines_of_it_do(
            line in "(Nov|[0-9]{1,2}\u{6708}|<[0-9]{1,3}>|kern *|\\[ *[0-9.]{1,10}\\]|[IWE]?[0-9]{2,4}[-/]?)?[ :]{0,2}([0-9]{1,2} [0-9]{2}:[0-9]{2}:[0-9]{2} |[a-z\u{e9}.0-9-]{1,6} |err *: )?([(_a-zA-Z][a-z/\u{e9}]{0,5})?(\\[[0-9]{1,3}\\])?(: ?|\\]| )?[a-z]{0,3}",
        ) {
            let bytes = line.as_bytes();
            for (form, begins) in [
                (&SYSLOG, begins::syslog as fn(&[u8]) -> bool),
                (&HOSTED, begins::hosted),
                (&KERNEL, begins::kernel),
                (&DECODED, begins::facility),
                (&KLOG, begins::klog),
                (&DATED, begins::dated),
            ] {
                proptest::prop_assert!(!form.is_match(&line) || begins(bytes), "{:?}", line);
            }
        }
    }
}
