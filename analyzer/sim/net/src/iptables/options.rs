//! The options of one rule: conditions and target.
//!
//! Options that are not understood become [`Test::Opaque`], so that a rule can
//! become undecidable but never wrongly wider or narrower.

use super::Target;
use super::headers;
use super::targets;
use super::tuple;
use super::values;
use crate::condition::clock::Clock;
use crate::condition::{Condition, RouteBack, Test};
use crate::packet::{Family, Interface, Protocol, tcp_flag};

/// Modules whose options are read one by one; all others are opaque as a whole.
const READ_MODULES: [&str; 20] = [
    "tcp",
    "udp",
    "udplite",
    "sctp",
    "icmp",
    "icmp6",
    "icmpv6",
    "ipv6-icmp",
    "conntrack",
    "state",
    "multiport",
    "mark",
    "connmark",
    "addrtype",
    "comment",
    "physdev",
    "iprange",
    "mac",
    "pkttype",
    "length",
];

/// Modules that look at IPv6 extension headers.
const HEADER_MODULES: [&str; 6] = ["rt", "hbh", "dst", "frag", "ipv6header", "ah"];

/// Reads the options of a rule, without command and chain.
pub(super) fn parse_rule(words: &[String], family: Family) -> (Vec<Condition>, Target) {
    let mut parser = Parser {
        words,
        at: 0,
        family,
        conditions: Vec::new(),
        target: Target::None,
    };
    parser.run();
    // A node with many Services has a hundred thousand rules.
    parser.conditions.shrink_to_fit();
    (parser.conditions, parser.target)
}

struct Parser<'a> {
    words: &'a [String],
    at: usize,
    family: Family,
    conditions: Vec<Condition>,
    target: Target,
}

/// True for an option that starts something new and therefore ends an opaque span.
fn is_base_option(word: &str) -> bool {
    matches!(
        word,
        "-s" | "-d"
            | "-i"
            | "-o"
            | "-p"
            | "-f"
            | "-j"
            | "-g"
            | "-m"
            | "-c"
            | "--source"
            | "--src"
            | "--destination"
            | "--dst"
            | "--in-interface"
            | "--out-interface"
            | "--protocol"
            | "--proto"
            | "--fragment"
            | "--jump"
            | "--goto"
            | "--match"
            | "--set-counters"
    )
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).map(String::as_str)
    }

    fn next(&mut self) -> Option<&'a str> {
        let word = self.peek()?;
        self.at += 1;
        Some(word)
    }

    fn run(&mut self) {
        while let Some(word) = self.next() {
            let negated = word == "!";
            let option = if negated {
                self.next().unwrap_or("!")
            } else {
                word
            };
            self.option(option, negated);
        }
    }

    fn push(&mut self, negated: bool, test: Test) {
        self.conditions.push(Condition { negated, test });
    }

    /// Adds the test, or an opaque one with the option's text when it could not be read.
    fn push_read(&mut self, negated: bool, option: &str, value: &str, test: Option<Test>) {
        let test = test.unwrap_or_else(|| opaque("unread", format!("{option} {value}")));
        self.push(negated, test);
    }

    /// The value of an option; handles the old `-s ! value` spelling.
    fn value(&mut self, negated: &mut bool) -> &'a str {
        if self.peek() == Some("!") {
            self.at += 1;
            *negated = !*negated;
        }
        self.next().unwrap_or("")
    }

    fn option(&mut self, option: &str, mut negated: bool) {
        match option {
            "-m" | "--match" => {
                let module = self.next().unwrap_or("");
                self.module(module);
            }
            "-j" | "--jump" => {
                let name = self.next().unwrap_or("");
                self.target = self.read_target(name);
            }
            "-g" | "--goto" => self.target = Target::Goto(self.next().unwrap_or("").to_owned()),
            "-c" | "--set-counters" => self.at += 2,
            "-4" | "-6" | "--ipv4" | "--ipv6" => {}
            "-f" | "--fragment" => self.push(negated, Test::Fragment),
            "--syn" => {
                let mask = tcp_flag::SYN | tcp_flag::RST | tcp_flag::ACK | tcp_flag::FIN;
                self.push(
                    negated,
                    Test::TcpFlags {
                        mask,
                        set: tcp_flag::SYN,
                    },
                );
            }
            "--tcp-flags" => {
                let (mask, set) = (self.value(&mut negated), self.next().unwrap_or(""));
                let read = values::flags(mask).zip(values::flags(set));
                let test = read.map(|(mask, set)| Test::TcpFlags { mask, set });
                self.push_read(negated, option, &format!("{mask} {set}"), test);
            }
            "--physdev-is-in" => self.push(negated, Test::BridgeIn(None)),
            "--physdev-is-out" => self.push(negated, Test::BridgeOut(None)),
            "--physdev-is-bridged" => self.push(negated, Test::Bridged),
            "--comment" | "--nfacct-name" => self.at += 1,
            _ if !option.starts_with('-') => {
                self.push(negated, opaque("unread", option.to_owned()))
            }
            _ => self.valued(option, negated),
        }
    }

    /// Options with exactly one value; anything else is opaque.
    fn valued(&mut self, option: &str, mut negated: bool) {
        let start = self.at;
        let value = self.value(&mut negated);
        let family = self.family;
        let test = match option {
            "-s" | "--source" | "--src" => values::address_list(value).map(Test::Source),
            "-d" | "--destination" | "--dst" => values::address_list(value).map(Test::Destination),
            "-i" | "--in-interface" => Some(Test::InInterface(Interface::parse(value))),
            "-o" | "--out-interface" => Some(Test::OutInterface(Interface::parse(value))),
            "-p" | "--protocol" | "--proto" => match value {
                "all" | "0" | "ip" => Some(any_address(family)),
                _ => Protocol::parse(value).map(Test::Protocol),
            },
            "--sport" | "--source-port" | "--sports" | "--source-ports" => {
                values::ports(value).map(Test::SourcePort)
            }
            "--dport" | "--destination-port" | "--dports" | "--destination-ports" => {
                values::ports(value).map(Test::DestinationPort)
            }
            "--ports" | "--port" => values::ports(value).map(Test::EitherPort),
            "--ctstate" | "--state" => values::states(value),
            "--ctstatus" => tuple::status(value),
            _ if option.starts_with("--ct") => tuple::connection(option, value),
            "--mark" => values::masked(value).map(|(value, mask)| Test::Mark { value, mask }),
            "--src-type" => values::address_kinds(value).map(|kinds| Test::AddressType {
                destination: false,
                kinds,
            }),
            "--dst-type" => values::address_kinds(value).map(|kinds| Test::AddressType {
                destination: true,
                kinds,
            }),
            "--icmp-type" | "--icmpv6-type" => values::icmp(value, family).map(|read| match read {
                Some((kind, codes)) => Test::Icmp { kind, codes },
                None => any_address(family),
            }),
            "--src-range" => {
                values::address_range(value).map(|range| Test::SourceRange(Box::new(range)))
            }
            "--dst-range" => {
                values::address_range(value).map(|range| Test::DestinationRange(Box::new(range)))
            }
            "--tcp-option" => value.parse().ok().map(|_: u8| headers::some_option()),
            "--mac-source" => values::mac(value).map(Test::MacSource),
            "--pkt-type" => match value.to_ascii_lowercase().as_str() {
                "unicast" | "host" => {
                    Some(Test::PacketType(crate::condition::AddressKind::Unicast))
                }
                "broadcast" => Some(Test::PacketType(crate::condition::AddressKind::Broadcast)),
                "multicast" => Some(Test::PacketType(crate::condition::AddressKind::Multicast)),
                _ => None,
            },
            "--length" => values::length_range(value).map(|(a, b)| Test::Length(a, b)),
            "--physdev-in" => Some(Test::BridgeIn(Some(Interface::parse(value)))),
            "--physdev-out" => Some(Test::BridgeOut(Some(Interface::parse(value)))),
            _ => {
                self.at = start;
                let text = self.span(option);
                return self.push(false, opaque("unread", text));
            }
        };
        self.push_read(negated, option, value, test);
    }

    /// The option and the words up to the next base option.
    fn span(&mut self, first: &str) -> String {
        let mut text = first.to_owned();
        while let Some(word) = self.peek() {
            let next = self.words.get(self.at + 1).map(String::as_str);
            if is_base_option(word) || (word == "!" && next.is_none_or(is_base_option)) {
                break;
            }
            text.push(' ');
            text.push_str(word);
            self.at += 1;
        }
        text
    }

    fn module(&mut self, module: &str) {
        if READ_MODULES.contains(&module) {
            if module == "connmark" {
                self.connmark();
            }
            return;
        }
        let text = self.span(module);
        match module {
            // These two count and always match.
            "nfacct" => {}
            "recent" if text.split(' ').nth(1) == Some("--set") => {}
            "rpfilter" => {
                let says = |option: &str| text.split(' ').any(|word| word == option);
                let asked = RouteBack {
                    by_interface: !says("--loose"),
                    marked: says("--validmark"),
                    local: says("--accept-local"),
                };
                self.push(says("--invert"), Test::RouteBack(asked));
            }
            "ttl" | "hl" => {
                let test = headers::ttl(&text);
                let negated = text.contains("! ");
                self.push(
                    test.is_some() && negated,
                    test.unwrap_or_else(|| opaque(module, text)),
                );
            }
            "policy" if text.contains("--pol ") => {
                let assumption = "the packet does not pass through IPsec".to_owned();
                let answer = text.contains("--pol none");
                self.push(false, Test::Assumed { answer, assumption });
            }
            "statistic" => match headers::statistic(&text) {
                Some(true) => {}
                // No source lies in no range.
                Some(false) => self.push(false, Test::Source(Vec::new())),
                None => self.push(false, opaque(module, text)),
            },
            "owner" | "cgroup" => {
                // Without a socket `owner` holds if all that it asks is negated; `cgroup` never does.
                let asked = text
                    .split(' ')
                    .filter(|word| word.starts_with("--"))
                    .count();
                let negated = text.split(' ').filter(|word| *word == "!").count();
                let without = module == "owner" && negated > 0 && asked == negated;
                self.push(false, Test::Sender { without, text });
            }
            "time" => match Clock::parse(&text) {
                Some(clock) => self.push(false, Test::Time(Box::new(clock))),
                None => self.push(false, opaque(module, text)),
            },
            "helper" => self.helper(&text),
            "devgroup" => match headers::groups(&text) {
                Some(test) => self.push(false, test),
                None => self.push(false, opaque(module, text)),
            },
            "ecn" => self.congestion(text),
            "tos" | "dscp" | "tcpmss" | "connbytes" | "realm" => self.of_header(module, text),
            "u32" | "bpf" | "string" => self.program(module, text),
            // Asks for the transport's header as well, and may ask for headers that are not there.
            "ipv6header"
                if text.contains('!') || text.contains("prot") || text.contains("none") =>
            {
                self.push(false, opaque(module, text));
            }
            _ if HEADER_MODULES.contains(&module) && self.family == Family::V6 => {
                self.push(false, Test::ExtensionHeader(text));
            }
            _ => self.push(false, opaque(module, text)),
        }
    }

    /// `helper --helper ftp`: what no helper expected has none, and then the match is what its negation says.
    fn helper(&mut self, text: &str) {
        let negated = text.contains("! ");
        let test = Test::Helped(text.to_owned());
        self.push(negated, test);
    }

    /// Marks of congestion.
    fn congestion(&mut self, text: String) {
        match headers::congestion(&text, self.family) {
            Some(all) => all
                .into_iter()
                .for_each(|(negated, test)| self.push(negated, test)),
            None => self.push(false, opaque("ecn", text)),
        }
    }

    /// Matches on bits of a header.
    fn of_header(&mut self, module: &str, text: String) {
        match headers::read(&text, self.family) {
            Some((negated, test)) => self.push(negated, test),
            None => self.push(false, opaque(module, text)),
        }
    }

    /// Programs over the packet's bytes.
    fn program(&mut self, module: &str, text: String) {
        let (negated, program) = headers::program(&text);
        self.push(
            negated,
            match program {
                Some(program) => Test::Bytes {
                    program: Box::new(program),
                    text,
                },
                None => opaque(module, text),
            },
        );
    }

    /// `--mark` of the connmark module, which must not be taken for the packet mark.
    fn connmark(&mut self) {
        let text = self.span("connmark");
        let words: Vec<&str> = text.split(' ').collect();
        let (negated, value) = match words.as_slice() {
            ["connmark", "--mark", value] => (false, *value),
            ["connmark", "!", "--mark", value] => (true, *value),
            _ => return self.push(false, opaque("connmark", text)),
        };
        let test = values::masked(value).map(|(value, mask)| Test::ConnMark { value, mask });
        self.push_read(negated, "connmark --mark", value, test);
    }

    fn read_target(&mut self, name: &str) -> Target {
        let mut arguments = Vec::new();
        while targets::takes_arguments(name)
            && let Some(word) = self.peek()
            && !is_base_option(word)
            && word != "!"
        {
            arguments.push(word);
            self.at += 1;
        }
        targets::target(name, &arguments)
    }
}

fn opaque(module: &str, text: String) -> Test {
    Test::Opaque {
        module: module.into(),
        text: text.into(),
    }
}

/// A test that always holds: the zero-length prefix of the family.
fn any_address(family: Family) -> Test {
    let any = crate::condition::AddressMask::new(values::unspecified(family), 0);
    Test::Source(vec![any])
}
