//! What IPVS does with a packet that it takes: it goes to a real server, through the output chains.

use std::sync::Arc;

use super::explore::Explorer;
use super::stage::Stage;
use super::way::{Fate, Way};
use crate::connection::Served;
use crate::iptables::ToServer;
use crate::packet::{Direction, Interface};
use crate::route::Route;

impl<'a> Explorer<'a> {
    /// Sends the packet on to a real server.
    pub(super) fn serve(&mut self, way: &mut Way<'a>, to: ToServer) -> Option<Fate> {
        if !to.rewrites {
            return Some(Fate::Unknown(format!(
                "IPVS forwards to {} by {}, which is not followed",
                to.address, to.mode
            )));
        }
        let mut packet = (*way.packet).clone();
        packet.dst = to.address;
        packet.dport = to.port.or(packet.dport);
        packet.direction = Direction::Output;
        way.served = true;
        if let Some(connection) = &mut packet.connection {
            connection.served = Some(if to.one_packet {
                Served::OnePacket
            } else {
                Served::Connection
            });
        }
        match self.rules().routes.map(|routes| routes.decide(&packet)) {
            Some(Route::Local) => {
                // A server on this host: the packet goes on where it is.
                packet.direction = way.packet.direction;
                way.packet = Arc::new(packet);
                self.pass_hook(way);
                return None;
            }
            Some(Route::Via { device, also, .. }) => {
                packet.out_iface = also.is_empty().then_some(Interface::Name(device));
            }
            // The kernel answers that the server is not reached.
            Some(Route::Refused { .. }) => return Some(Fate::Rejected),
            Some(Route::Unknown) | None => packet.out_iface = None,
        }
        match self.rules().ipvs_tracks {
            Some(true) => {}
            Some(false) => way.untracked = true,
            None => self.assume(
                "IPVS keeps its connections in connection tracking, as kube-proxy sets it (net.ipv4.vs.conntrack)",
            ),
        }
        way.packet = Arc::new(packet);
        way.frames.clear();
        // Where connections are translated has been passed.
        (way.stage, way.hook, way.natted) = (Stage::Output, 0, true);
        self.enter_hook(way);
        None
    }
}
