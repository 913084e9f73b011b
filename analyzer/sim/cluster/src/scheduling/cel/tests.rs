//! Selectors as drivers' documentation has them, and hostile ones.

use std::collections::BTreeMap;

use super::*;
use crate::scheduling::quantity::Quantity;

fn card() -> Value {
    let text = |text: &str| Value::Text(text.to_owned());
    let version = Version::parse("570.86.15").unwrap();
    let attributes: Attributes = [
        ("type".to_owned(), text("gpu")),
        ("productName".to_owned(), text("NVIDIA H100 80GB HBM3")),
        ("index".to_owned(), Value::Int(3)),
        ("mig".to_owned(), Value::Bool(false)),
        ("driverVersion".to_owned(), Value::Version(version)),
    ]
    .into();
    let memory = Value::Quantity(Quantity::parse("81559Mi").unwrap());
    Value::device(
        "gpu.nvidia.com",
        false,
        [("gpu.nvidia.com".to_owned(), attributes)].into(),
        [(
            "gpu.nvidia.com".to_owned(),
            [("memory".to_owned(), memory)].into(),
        )]
        .into(),
    )
}

fn answer(expression: &str) -> Result<bool, Stop> {
    Program::read(expression)
        .map_err(Stop::Open)?
        .matches(&card())
}

#[test]
fn selectors_of_drivers_are_answered_as_the_scheduler_answers_them() {
    for (expression, matches) in [
        (
            "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'",
            true,
        ),
        (
            "device.driver == \"gpu.nvidia.com\" && device.attributes[\"gpu.nvidia.com\"].type == \"mig\"",
            false,
        ),
        (
            "device.attributes['gpu.nvidia.com'].productName.lowerAscii().matches('^.*h100.*$')",
            true,
        ),
        (
            "device.attributes['gpu.nvidia.com'].productName.matches(r'A100|\\bL4\\b')",
            false,
        ),
        (
            "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('10Gi')) >= 0",
            true,
        ),
        (
            "device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity('80Gi'))",
            false,
        ),
        (
            "device.capacity['gpu.nvidia.com'].memory == quantity('81559Mi')",
            true,
        ),
        (
            "device.attributes['gpu.nvidia.com'].driverVersion.compareTo(semver('560.0.0')) > 0",
            true,
        ),
        (
            "device.attributes['gpu.nvidia.com'].driverVersion.isLessThan(semver('570.86.15'))",
            false,
        ),
        (
            "device.attributes['gpu.nvidia.com'].index in [1, 3] ? !device.attributes['gpu.nvidia.com'].mig : false",
            true,
        ),
        (
            "cel.bind(a, device.attributes['gpu.nvidia.com'], a.type == 'gpu' && a.index % 2 == 1)",
            true,
        ),
        (
            "has(device.attributes['gpu.nvidia.com'].profile) && device.attributes['gpu.nvidia.com'].profile == '1g.10gb'",
            false,
        ),
        // A domain that the device has nothing of is an empty map.
        (
            "'rdma' in device.attributes['dra.net'] && device.attributes['dra.net'].rdma",
            false,
        ),
        (
            "['H100', 'H200'].exists(n, device.attributes['gpu.nvidia.com'].productName.contains(n))",
            true,
        ),
        (
            "device.attributes['gpu.nvidia.com'].productName.split(' ').all(part, part.size() > 2)",
            true,
        ),
        // What has no value does not matter where the other side decides.
        (
            "device.attributes['gpu.nvidia.com'].nothing > 3 || device.driver.endsWith('nvidia.com')",
            true,
        ),
        (
            "1 + 2 * 3 == 7 && (1 + 2) * 3 == 9 && -7 / 2 == -3 && 0x10 == 16 // a comment",
            true,
        ),
    ] {
        assert_eq!(answer(expression), Ok(matches), "{expression}");
    }
}

/// What Kubernetes' own cases ask of a selector (`k8s.io/dynamic-resource-allocation/cel`, read at 1.36), on this card.
#[test]
fn domains_lists_and_versions_are_what_kubernetes_takes_them_for() {
    for (expression, matches) in [
        ("'gpu.nvidia.com' in device.attributes", true),
        ("'no.such.domain' in device.attributes", false),
        ("'x' in device.attributes['no.such.domain']", false),
        (
            "device.attributes.exists_one(d, d == 'gpu.nvidia.com')",
            true,
        ),
        (
            "device.attributes['gpu.nvidia.com'].exists_one(a, a.startsWith('nothing'))",
            false,
        ),
        ("['a', 'b', 'a'].exists_one(x, x == 'a')", false),
        (
            "device.attributes['gpu.nvidia.com'].type.includes('gpu')",
            true,
        ),
        (
            "device.attributes['gpu.nvidia.com'].index.includes(4)",
            false,
        ),
        (
            "[1, 3].includes(device.attributes['gpu.nvidia.com'].index)",
            true,
        ),
        ("device.allowMultipleAllocations", false),
        (
            "device.attributes.size() == 1 && device.capacity['none'].size() == 0",
            true,
        ),
        (
            "semver('v1.2', true).isLessThan(semver('1.2.1')) && semver('01.0', true) == semver('1.0.0')",
            true,
        ),
        (
            "isSemver('v1.0.0', true) && !isSemver('v1.0.0', false) && !isSemver('v1.0.0')",
            true,
        ),
    ] {
        assert_eq!(answer(expression), Ok(matches), "{expression}");
    }
    for expression in ["1", "device", "device.attributes['gpu.nvidia.com'].type"] {
        let got = answer(expression);
        assert!(matches!(got, Err(Stop::Error(_))), "{expression}: {got:?}");
    }
    let macros = "device.attributes['gpu.nvidia.com'].index.exists(x, x > 0)";
    assert!(matches!(answer(macros), Err(Stop::Error(_))));
    let values: Vec<String> = (0..49).map(|number| number.to_string()).collect();
    let long = format!("[{}].includes", values.join(","));
    assert_eq!(answer(&format!("{long}(7)")), Ok(true));
    assert!(matches!(
        answer(&format!("{long}(-1)")),
        Err(Stop::Error(_))
    ));
}

#[test]
fn an_attribute_that_is_missing_stops_the_scheduler() {
    let missing = answer("device.attributes['gpu.nvidia.com'].profile == '1g.10gb'");
    assert_eq!(missing, Err(Stop::Error("no such key: profile".into())));
    let zero = answer("1 / (device.attributes['gpu.nvidia.com'].index - 3) == 1");
    assert_eq!(zero, Err(Stop::Error("division by zero".into())));
}

#[test]
fn what_is_not_evaluated_is_open_and_never_an_answer() {
    let deep = format!("{}true{}", "(".repeat(500), ")".repeat(500));
    let loops = (0..12).fold("true".to_owned(), |body, number| {
        format!("[1,2,3,4,5,6,7,8,9].all(x{number}, {body})")
    });
    let wide = format!("true{}", " && true".repeat(2000));
    for expression in [
        "",
        "device.driver == ",
        "1.5 > 1.0",
        "device.driver.reverse() == 'x'",
        "nothing == 1",
        "device.attributes['gpu.nvidia.com'].index > '1'",
        "'a'.matches('(')",
        "'a' 'b'",
        "b'x' == b'x'",
        &"!".repeat(9000),
        &deep,
        &loops,
        &wide,
        &"x".repeat(20_000),
    ] {
        assert!(
            matches!(answer(expression), Err(Stop::Open(_))),
            "{expression:.60}"
        );
    }
}

#[test]
fn an_undecided_side_leaves_and_and_or_open_only_where_it_matters() {
    assert_eq!(answer("nothing == 1 && false"), Ok(false));
    assert_eq!(answer("true || nothing == 1"), Ok(true));
    assert!(matches!(answer("nothing == 1 && true"), Err(Stop::Open(_))));
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(
        text in "(device|attributes|\\.|\\[|\\]|\\(|\\)|'x'|\"|\\\\|&&|\\|\\||!|-|9{1,20}|in|has|all|,|\\?|:|\\PC){0,40}",
    ) {
        let _ = answer(&text);
    }

    /// Precedence and associativity are those of arithmetic.
    #[test]
    fn sums_and_products_are_those_of_arithmetic(a in -50..50_i64, b in -50..50_i64, c in 1..50_i64) {
        let value = a + b * c - a % c;
        proptest::prop_assert_eq!(answer(&format!("{a} + {b} * {c} - {a} % {c} == {value}")), Ok(true));
    }
}

/// Devices without anything are devices, too.
#[test]
fn a_device_without_attributes_has_a_driver() {
    let bare = Value::device("d.example.com", false, BTreeMap::new(), BTreeMap::new());
    let program =
        Program::read("device.driver == 'd.example.com' && !('x' in device.capacity['y'])");
    assert_eq!(program.unwrap().matches(&bare), Ok(true));
}
