use super::*;
use crate::packet::{Direction, Protocol};

/// A first UDP packet of 28 bytes to port 53, its class and its number not known.
fn query() -> Packet {
    let address = |text: &str| text.parse().expect("address");
    let mut packet = Packet::new(
        Direction::Forward,
        address("10.42.0.9"),
        address("192.0.2.53"),
    );
    packet.proto = Some(Protocol::UDP);
    (packet.sport, packet.dport) = (Some(40_000), Some(53));
    packet.fragment = Some(false);
    packet.ttl = Some(63);
    packet.length = Some(28);
    packet.headers = HeaderBytes::plain(&packet);
    packet.headers.network[1] = None;
    packet
}

fn u32(text: &str) -> Tri {
    Program::u32(text).expect(text).run(&query())
}

fn bpf(text: &str) -> Tri {
    Program::bpf(text).expect(text).run(&query())
}

#[test]
fn u32_reads_what_is_known_and_leaves_open_what_is_not() {
    for (text, wanted) in [
        // The protocol, without the bytes beside it.
        ("0x6&0xff=0x11", Tri::Yes),
        ("6 & 0xFF = 6", Tri::No),
        ("0x6&0xff=0x1:0x10,0x11", Tri::Yes),
        // The port, behind a header as long as it says.
        ("0x0>>0x16&0x3c@0x0&0xffff=0x35", Tri::Yes),
        ("0x0>>0x16&0x3c@0x0>>0x10=0x9c40&&0x6&0xff=0x11", Tri::Yes),
        ("0x0>>0x16&0x3c@0x0&0xffff=0x35&&0x6&0xff=0x6", Tri::No),
        // The address, the time to live.
        ("0x10=0xc0000235", Tri::Yes),
        ("0x8>>0x18=0x3f", Tri::Yes),
        // The class and the number are not known, but for what they cannot be.
        ("0x0=0x45000054", Tri::No),
        ("0x0&0xff00ffff=0x4500001c", Tri::Yes),
        ("0x0&0xff0000=0x0", Tri::Maybe),
        ("0x2=0x1c0001:0x1cffff", Tri::Maybe),
        ("0x4>>0x10=0x1", Tri::Maybe),
        // Behind the packet's end.
        ("0x19=0x0:0xffffffff", Tri::No),
    ] {
        assert_eq!(u32(text), wanted, "{text}");
    }
    assert!(Program::u32("0x6&0xff").is_none() && Program::u32("6%2=1").is_none());
}

#[test]
fn a_text_is_looked_for_in_all_of_the_packet_that_is_known() {
    let text = |options: &str| Program::text(options).expect(options).run(&query());
    // The end of the address and of the port, 20 and 40 bytes on.
    assert_eq!(text("--hex-string \"|0235|\" --algo bm"), Tri::Yes);
    assert_eq!(
        text("--hex-string |0235| --algo bm --from 19 --to 24"),
        Tri::No
    );
    assert_eq!(text("--string test --algo kmp"), Tri::No);
    assert_eq!(text("--hex-string |1100| --algo bm"), Tri::Maybe);
    assert_eq!(
        text("--string a_text_that_is_longer_than_it --algo bm"),
        Tri::No
    );
    let mut unknown = query();
    unknown.length = None;
    let sought = Program::text("--string test --algo bm").expect("a text");
    assert_eq!(sought.run(&unknown), Tri::Maybe);
}

#[test]
fn byte_code_ends_with_an_answer_unless_it_jumps_by_what_is_not_known() {
    for (text, wanted) in [
        // "udp", "tcp" as nfbpf_compile writes them.
        ("4,48 0 0 9,21 0 1 17,6 0 0 1,6 0 0 0,", Tri::Yes),
        ("4,48 0 0 9,21 0 1 6,6 0 0 1,6 0 0 0", Tri::No),
        // The port, by the header's length.
        (
            "5,177 0 0 0,72 0 0 2,21 0 1 53,6 0 0 65535,6 0 0 0",
            Tri::Yes,
        ),
        ("2,128 0 0 0,22 0 0 0", Tri::Yes),
        ("4,48 0 0 1,21 0 1 0,6 0 0 1,6 0 0 0", Tri::Maybe),
        ("4,32 0 0 4294963200,21 0 1 0,6 0 0 1,6 0 0 0", Tri::Maybe),
        ("4,48 0 0 40,21 0 1 0,6 0 0 1,6 0 0 1", Tri::No),
    ] {
        assert_eq!(bpf(text), wanted, "{text}");
    }
    assert!(Program::bpf("2,6 0 0 1").is_none() && Program::bpf("1,6 0 0").is_none());
}
