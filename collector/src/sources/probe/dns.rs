//! One DNS question over UDP to one resolver: the system's own resolver would hide which of several answered.
//! RFC 1035; addresses of type A only, as those decide whether pods reach anything.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tokio::net::UdpSocket;

/// What a resolver said.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// `NOERROR`, `NXDOMAIN`, `SERVFAIL`, ...
    pub(super) code: String,
    /// The addresses it gave.
    pub(super) addresses: Vec<IpAddr>,
}

/// Asks for a name's addresses.
pub(super) async fn ask(resolver: SocketAddr, name: &str) -> io::Result<Answer> {
    let local: SocketAddr = if resolver.is_ipv4() {
        (Ipv4Addr::UNSPECIFIED, 0).into()
    } else {
        (std::net::Ipv6Addr::UNSPECIFIED, 0).into()
    };
    let mut id = [0; 2];
    getrandom::fill(&mut id).map_err(io::Error::other)?;
    let socket = UdpSocket::bind(local).await?;
    socket.connect(resolver).await?;
    socket.send(&question(id, name)?).await?;
    let mut buffer = [0; 4096];
    loop {
        let read = socket.recv(&mut buffer).await?;
        if let Some(answer) = parse(id, &buffer[..read]) {
            return Ok(answer);
        }
    }
}

fn question(id: [u8; 2], name: &str) -> io::Result<Vec<u8>> {
    // Recursion desired, one question.
    let mut message = vec![id[0], id[1], 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.trim_end_matches('.').split('.') {
        let length = u8::try_from(label.len())
            .ok()
            .filter(|length| (1..64).contains(length));
        let length = length.ok_or_else(|| io::Error::other(format!("{name} is no host name")))?;
        message.push(length);
        message.extend_from_slice(label.as_bytes());
    }
    // Root, type A, class IN.
    message.extend([0, 0, 1, 0, 1]);
    Ok(message)
}

/// None where it is no answer to this question, or a cut one.
fn parse(id: [u8; 2], message: &[u8]) -> Option<Answer> {
    if message.get(..2)? != id || message.get(2)? & 0x80 == 0 {
        return None;
    }
    let code = match message.get(3)? & 0x0f {
        0 => "NOERROR".to_owned(),
        2 => "SERVFAIL".to_owned(),
        3 => "NXDOMAIN".to_owned(),
        5 => "REFUSED".to_owned(),
        other => format!("RCODE {other}"),
    };
    let (questions, answers) = (number(message, 4)?, number(message, 6)?);
    let mut at = 12;
    for _ in 0..questions {
        at = after_name(message, at)? + 4;
    }
    let mut addresses = Vec::new();
    for _ in 0..answers {
        at = after_name(message, at)?;
        let (kind, length) = (number(message, at)?, usize::from(number(message, at + 8)?));
        let data = message.get(at + 10..at + 10 + length)?;
        if let (1, Ok(bytes)) = (kind, <[u8; 4]>::try_from(data)) {
            addresses.push(IpAddr::from(bytes));
        }
        at += 10 + length;
    }
    Some(Answer { code, addresses })
}

fn number(message: &[u8], at: usize) -> Option<u16> {
    let bytes = message.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

/// Behind a name, which ends with an empty label or a pointer.
fn after_name(message: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *message.get(at)? {
            0 => return Some(at + 1),
            length if length & 0xc0 == 0xc0 => return Some(at + 2),
            length => at += 1 + usize::from(length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A resolver that answers with a CNAME, an address and a pointer each.
    #[tokio::test(flavor = "multi_thread")]
    async fn an_answer_over_a_real_socket_is_understood() {
        let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let at = server.local_addr().unwrap();
        tokio::spawn(async move {
            let mut buffer = [0; 512];
            let (read, from) = server.recv_from(&mut buffer).await.unwrap();
            let mut answer = buffer[..read].to_vec();
            answer[2] |= 0x80;
            answer[7] = 2;
            answer.extend([0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 2, 0xc0, 12]);
            answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 9]);
            server.send_to(&answer, from).await.unwrap();
        });
        let answer = ask(at, "nvcr.io").await.unwrap();
        assert_eq!(answer.code, "NOERROR");
        assert_eq!(answer.addresses, ["192.0.2.9".parse::<IpAddr>().unwrap()]);
    }

    #[test]
    fn what_is_no_host_name_is_not_asked_for() {
        assert!(question([0, 0], "a..b").is_err());
        assert!(question([0, 0], &"x".repeat(64)).is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(mut bytes in proptest::collection::vec(proptest::num::u8::ANY, 4..200)) {
            bytes[..3].copy_from_slice(&[7, 7, 0x80]);
            let _ = parse([7, 7], &bytes);
        }
    }
}
