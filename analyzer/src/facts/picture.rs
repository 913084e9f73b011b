//! Facts that only pictures show: the way of a packet, the layers of a configuration, HAMi's settings.
//!
//! They are not among the kinds that rules may name: a rule tests what follows from them.

use super::{FactType, Field};
use crate::model::state::{HamiSetting, PacketPath, RuntimeLayers};

impl FactType for PacketPath {
    const KIND: &'static str = "packet-path";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

impl FactType for RuntimeLayers {
    const KIND: &'static str = "runtime-layers";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

impl FactType for HamiSetting {
    const KIND: &'static str = "hami-setting";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        self.name.clone()
    }
}
