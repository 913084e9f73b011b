//! Which way an answer takes: back through the node that translated, past it, or nowhere.

use std::net::IpAddr;

use super::{Host, Passage};
use crate::packet::{Direction, Interface, Packet};
use crate::route::Route;

/// Names of tunnels' interfaces.
const TUNNELS: [&str; 8] = [
    "flannel",
    "vxlan",
    "tunl",
    "cilium",
    "wireguard",
    "geneve",
    "wg",
    "weave",
];

/// The way of an answer.
pub(super) enum WayBack {
    /// A process of the node answers.
    Own,
    /// It comes in by an interface of the node.
    Back {
        input: String,
        why: String,
        /// Why it may not come at all, where that was not captured.
        doubt: Option<String>,
    },
    /// It goes to who asked without passing the node.
    Past { why: String },
    /// It is not sent, or goes nowhere.
    Nowhere { why: String },
    /// The captures do not tell.
    Open { why: String },
}

pub(super) fn way_back(passage: &Passage, here: &Host<'_>, far: Option<&Host<'_>>) -> WayBack {
    let left = &passage.left.packet;
    let (asker, asked) = (passage.became.src, left.dst);
    if left.direction == Direction::Input {
        return WayBack::Own;
    }
    if let Route::Refused { what, .. } = here.routing.decide(left) {
        return WayBack::Nowhere {
            why: format!("the packet itself has {what} to {asked}"),
        };
    }
    if asker == asked {
        return WayBack::Nowhere {
            why: format!(
                "the packet comes to {asked} with {asked} as its own source, and a host drops what claims to come from itself"
            ),
        };
    }
    let Some(Interface::Name(device)) = &left.out_iface else {
        return WayBack::Open {
            why: "the interface that the packet leaves by is not known".to_owned(),
        };
    };
    let back = |why: String, doubt: Option<String>| WayBack::Back {
        input: device.clone(),
        why,
        doubt,
    };
    let ours = here.holder(asker).is_some();
    if here.bridges.contains(device) && !ours && here.by(asker) == Some(device.as_str()) {
        return bridged(here, device);
    }
    if here.pods.contains(&asked) {
        let why = format!("{asked} answers by the interface that leads to it");
        return back(why, None);
    }
    if let Some(far) = far {
        return from_far(passage, here, far);
    }
    let inside = here.cluster_pods.contains(&asked);
    let missing = || format!("the node of {asked}, which answers, was not captured");
    if ours {
        let why = format!(
            "{asker} is an address of this node, and answers are taken to come back by {device}"
        );
        return back(why, inside.then(missing));
    }
    if here.pods.contains(&asker) {
        let doubt = if inside {
            missing()
        } else {
            format!(
                "whether the network outside sends what is for {asker} back to its node was not captured"
            )
        };
        let why = format!("what is for {asker} is taken to come back by {device}");
        return back(why, Some(doubt));
    }
    WayBack::Open {
        why: format!(
            "which way {asked} answers {asker} was not captured: past this node nobody writes the answer's source back"
        ),
    }
}

/// Both sides are on one bridge of the node.
fn bridged(here: &Host<'_>, device: &str) -> WayBack {
    match here.bridged_pass_rules {
        Some(true) => WayBack::Back {
            input: device.to_owned(),
            why: format!("bridged frames on {device} pass the rules"),
            doubt: None,
        },
        Some(false) => WayBack::Past {
            why: format!(
                "both sides are on {device}, and bridged frames do not pass connection tracking (net.bridge.bridge-nf-call-iptables = 0)"
            ),
        },
        None => WayBack::Open {
            why: format!(
                "both sides are on {device}, and net.bridge.bridge-nf-call-iptables was not captured"
            ),
        },
    }
}

/// What the routes of the node that answers say.
fn from_far(passage: &Passage, here: &Host<'_>, far: &Host<'_>) -> WayBack {
    let (asker, asked) = (passage.became.src, passage.left.packet.dst);
    match far.routing.decide(&plain(asked, asker)) {
        Route::Local => WayBack::Past {
            why: format!("{asker} is an address of {} itself", far.name),
        },
        Route::Refused { what, .. } => WayBack::Nowhere {
            why: format!("{} has {what} back to {asker}", far.name),
        },
        Route::Unknown => WayBack::Open {
            why: format!("the route of {} back to {asker} is not known", far.name),
        },
        Route::Via {
            device, gateway, ..
        } => {
            let next = gateway.unwrap_or(asker);
            if let Some(input) = arrives_by(here, next, &device) {
                return WayBack::Back {
                    input,
                    why: format!("{} sends it by {device} to {next}", far.name),
                    doubt: None,
                };
            }
            past_or_open(here, far, asker, &device, gateway)
        }
    }
}

/// The interface of a host by which a packet arrives that another host sends by `device` to `next`; `None` where
/// the next hop is not an address of the host.
pub(super) fn arrives_by(host: &Host<'_>, next: IpAddr, device: &str) -> Option<String> {
    let holder = host.holder(next)?;
    // A tunnel has the same name on every node, and its next hop is often the node's own address.
    let tunnel = TUNNELS.iter().any(|start| device.starts_with(start));
    Some(if tunnel { device } else { holder }.to_owned())
}

fn past_or_open(
    here: &Host<'_>,
    far: &Host<'_>,
    asker: IpAddr,
    device: &str,
    gateway: Option<IpAddr>,
) -> WayBack {
    let Some(gateway) = gateway else {
        return WayBack::Past {
            why: format!("{} sends it to {asker} straight, by {device}", far.name),
        };
    };
    let same = matches!(
        here.routing.decide(&plain(asker, asker)),
        Route::Via { gateway: Some(ours), .. } if ours == gateway
    );
    if same {
        return WayBack::Past {
            why: format!(
                "{} sends it by {device} over {gateway}, the router that leads to {asker}",
                far.name
            ),
        };
    }
    WayBack::Open {
        why: format!(
            "{} sends it by {device} over {gateway}, whose routes were not captured",
            far.name
        ),
    }
}

fn plain(from: IpAddr, to: IpAddr) -> Packet {
    let mut packet = Packet::new(Direction::Output, from, to);
    packet.mark = Some(0);
    packet
}

impl Host<'_> {
    /// The interface that has an address of this node.
    fn holder(&self, address: IpAddr) -> Option<&str> {
        let (device, _) = self.routing.holder(&plain(address, address))?;
        Some(device)
    }

    /// The interface by which an address is reached without another hop.
    fn by(&self, address: IpAddr) -> Option<&str> {
        self.routing.on_link(&plain(address, address))
    }
}
