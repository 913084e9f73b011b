//! Reports as readers get them: whole, the same twice, and harmless whatever the bundle holds.

use super::*;
use crate::report::fixture;

#[test]
fn model_incident_renders() {
    let analysis = fixture::model_incident();
    render_markdown(&analysis).unwrap();
    render_html(&analysis).unwrap();
    render_json(&analysis).unwrap();
}
