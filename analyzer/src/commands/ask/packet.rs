//! `ask packet`: the way, the rule that decides, and the answer's way.

use crate::cli::AskPacketArgs;
use crate::derive::network::ask::{Asked, End, Told, packet};
use crate::firewall::dissect;
use crate::firewall::packet::Protocol;
use crate::scan::Scanned;

pub(super) fn answer(scanned: &Scanned, args: &AskPacketArgs) -> Result<Vec<String>, String> {
    let (from, _) = End::parse(&args.from)?;
    let (to, port) = End::parse(&args.to)?;
    let protocol = Protocol::parse(&args.proto).ok_or_else(|| {
        format!(
            "{} is no protocol; ask for tcp, udp, sctp or icmp",
            args.proto
        )
    })?;
    let shown = args.bytes.as_deref().map(|text| {
        let packet = dissect::bytes(text).and_then(|bytes| dissect::packet(&bytes));
        packet.map_err(|why| format!("--bytes: {why}"))
    });
    let asked = Asked {
        from,
        to,
        port,
        protocol,
        node: args.node.as_deref(),
        shown: shown.transpose()?,
    };
    let Told { check, notes } = crate::derive::ask(scanned, |known| packet(known, &asked))?;
    let mut lines = vec![
        format!("packet   {}", check.packet),
        format!("node     {}", check.node),
        format!("route    {}", check.route),
        format!("verdict  {}", check.verdict),
        format!("decided  {}", check.decided_by),
    ];
    let more = [
        ("source", &check.source),
        ("reply", &check.reply),
        ("by", &check.reply_by),
    ];
    let said = more.into_iter().filter(|(_, text)| !text.is_empty());
    lines.extend(said.map(|(name, text)| format!("{name:<8} {text}")));
    lines.extend(notes.into_iter().map(|note| format!("note     {note}")));
    Ok(lines)
}
