//! `casefile-packet`: sends one UDP packet with chosen ports, time to live and identification.

use std::net::SocketAddrV4;

use casefile_tests::packet::{Datagram, root_query};
use clap::Parser;

#[derive(Parser)]
#[command(about = "Sends one DNS query as a raw packet")]
struct Options {
    source: SocketAddrV4,
    destination: SocketAddrV4,
    #[arg(long, default_value_t = 64)]
    ttl: u8,
    #[arg(long, default_value_t = 0)]
    id: u16,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let datagram = Datagram {
        source: options.source,
        destination: options.destination,
        ttl: options.ttl,
        id: options.id,
        payload: root_query(options.id),
    };
    Ok(datagram.send()?)
}
