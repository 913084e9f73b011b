//! What is said of a shape is so in each of its lines.

use super::expression::{self, Expression};
use super::parts::{Track, align, is_alignable};
use super::shape::{self, Words};
use super::track::{Traced, Tracer};

const SOURCES: [&str; 16] = [
    r"(?i)\bNVRM\b|nvidia-(?:smi|device-plugin)|modprobe[^\n]{0,40}\bnvidia",
    r"gpu-operator",
    r"\bpull.{0,20}refused",
    r"^E\d+ (?P<rest>.*)$",
    r"plugin$",
    r"gpu\B",
    r"gpu-(?P<part>operator)",
    r#"pod="(?P<namespace>[^/"]+)/(?P<pod>[^"]+)""#,
    r"failed (?P<first>\S+).*?(?P<last>\d+)",
    r"(?i)(?P<what>pull|refused)(?: (?P<of>\w+))?",
    r"pid=(?P<pid>\d+),",
    r"(?P<id>[0-9a-f]+)\b.*refused",
    r"gpu-(?P<name>\w{2,30}) pull",
    r"(?P<lazy>.*?) refused|pull",
    r"fail\w+|[xyz]+\d",
    r"(?P<a>\w+)-(?P<b>\w+) ",
];

fn shape_of(line: &str) -> Vec<u8> {
    let words = Words::of(["gpu", "pull"].into_iter());
    let mut shape = Vec::new();
    assert!(shape::write(line.as_bytes(), false, &words, &mut shape));
    shape
}

proptest::proptest! {
    #[test]
    fn what_is_said_of_a_shape_is_so_in_each_of_its_lines(
        parts in proptest::collection::vec(
            "gpu|gpu-operator|operator|NVRM|modprobe| nvidia|nvidia-device-plugin|-|pull|refused|E|[ .:]|[0-9]{1,3}|[0-9a-z]{1,5}|xxxxxxxxxxxxxxx|pod=\"a/|\"|failed |pid=|,|-[bcx2]{5}|[0-9a-f]{9}",
            0..9,
        ),
    ) {
        let line = parts.concat();
        let shape = shape_of(&line);
        let mut places = Vec::new();
        for source in SOURCES {
            let expression = Expression::new(source);
            let track = Track::of(source).unwrap();
            match Tracer::default().trace(&track, &shape) {
                Traced::Never => proptest::prop_assert!(!expression.is_match(&line), "{} {}", source, line),
                Traced::Always(parts) if is_alignable(&shape) => {
                    proptest::prop_assert!(align(&shape, line.as_bytes(), &mut places));
                    let Some(named) = track.named(&parts, &places, &line) else { continue };
                    let named = Some(expression::sorted(named));
                    proptest::prop_assert_eq!(named, expression.captures(&line), "{} {}", source, line);
                }
                Traced::Always(_) | Traced::Unknown => {}
            }
        }
    }
}

#[test]
fn a_line_with_ids_is_matched_by_the_words_beside_them() {
    let traced = |source: &str, line: &str| {
        let (track, shape) = (Track::of(source).unwrap(), shape_of(line));
        Tracer::default().trace(&track, &shape)
    };
    let line = "E0529 16:26:40.06 18 a.go:7] pod=\"team/web-d88820d4a-lfjrz\" failed with 12";
    for source in [
        r"failed with",
        r#"pod="(?P<pod>[^"]+)""#,
        r"(?i)FAILED.*\d+$",
    ] {
        assert!(
            matches!(traced(source, line), Traced::Always(_)),
            "{source}"
        );
    }
    for source in [r"fell off", r"failed.*pod=", r"dead beef|refused"] {
        assert_eq!(traced(source, line), Traced::Never, "{source}");
    }
    assert_eq!(traced(r"web-d8", line), Traced::Unknown);
}
