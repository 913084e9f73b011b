//! Reads the lines around what a report cites, once the analysis knows what that is.

use std::ops::ControlFlow;

use casefile_bundle::Keys;

use crate::join::Unit;
use crate::model::Analysis;
use crate::recording::walk_chosen;
use crate::report::context::{Context, places};

/// The lines around the cited ones, of an input as it can be opened again.
/// Places in several bundles of one cluster are not looked up.
pub(super) fn around(unit: &Unit, keys: Option<&Keys>, analysis: &Analysis) -> Context {
    let mut context = Context::default();
    let places = places(analysis);
    if places.is_empty() || matches!(unit, Unit::Joined(_)) {
        return context;
    }
    let cited = |path: &str| places.iter().any(|place| place.path == path);
    // What could be read until an error is as true as the rest.
    let _ = walk_chosen(unit, keys, &cited, &|_| true, &mut |said| {
        context.take(&places, &said.path, said.line, &said.text);
        ControlFlow::Continue(())
    });
    context
}
