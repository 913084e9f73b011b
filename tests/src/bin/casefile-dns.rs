//! `casefile-dns`: a resolver for tests, over UDP, until it is killed. It knows the names that it is given, says
//! NXDOMAIN to all others, and puts what it was asked into no log.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use anyhow::Context as _;
use clap::Parser;

#[derive(Parser)]
#[command(about = "Answers DNS questions for A records")]
struct Options {
    /// Where to listen
    listen: SocketAddr,
    /// NAME=ADDRESS
    names: Vec<String>,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let mut known = BTreeMap::new();
    for pair in &options.names {
        let (name, address) = pair.split_once('=').context("NAME=ADDRESS is wanted")?;
        known.insert(name.to_owned(), address.parse::<Ipv4Addr>()?);
    }
    let socket = UdpSocket::bind(options.listen)?;
    let mut buffer = [0; 512];
    loop {
        let (read, from) = socket.recv_from(&mut buffer)?;
        if let Some(answer) = answer(&buffer[..read], &known) {
            socket.send_to(&answer, from)?;
        }
    }
}

/// The question, with an address behind it or the code for a name that does not exist.
fn answer(question: &[u8], known: &BTreeMap<String, Ipv4Addr>) -> Option<Vec<u8>> {
    let mut labels = Vec::new();
    let mut at = 12;
    loop {
        let length = usize::from(*question.get(at)?);
        if length == 0 {
            break;
        }
        labels.push(std::str::from_utf8(question.get(at + 1..at + 1 + length)?).ok()?);
        at += 1 + length;
    }
    let mut answer = question.get(..at + 5)?.to_vec();
    answer[2] |= 0x80;
    match known.get(&labels.join(".")) {
        Some(address) => {
            answer[7] = 1;
            // The name asked for, type A, class IN, a minute.
            answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
            answer.extend(address.octets());
        }
        None => answer[3] |= 3,
    }
    Some(answer)
}
