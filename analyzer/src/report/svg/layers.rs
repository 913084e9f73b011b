//! A containerd's configuration as layers: the last file read lies on top; what it takes away is struck out.

use std::fmt::Write as _;

use super::{Canvas, Svg, wrap};
use crate::model::state::{Layer, RuntimeLayers};
use crate::report::escape;

const WIDTH: i64 = 836;
const SPLIT: i64 = 330;
const LINE: i64 = 18;
/// Settings drawn of one layer.
const MOST: usize = 14;

/// Draws the layers.
pub(crate) fn draw(id: &str, layers: &RuntimeLayers) -> Svg {
    let mut canvas = Canvas::new();
    let mut y = 8;
    for layer in layers.layers.iter().rev() {
        y = draw_layer(&mut canvas, layer, y) + 8;
    }
    let text = text_form(layers).replace('\n', "; ");
    canvas.finish(id, WIDTH, y + 4, &title(layers), &text)
}

fn draw_layer(canvas: &mut Canvas, layer: &Layer, top: i64) -> i64 {
    let file = wrap(&layer.file, 38, 3);
    let because = wrap(&layer.because, 44, 2);
    let shown = layer.settings.len().min(MOST);
    let more = layer.settings.len() - shown;
    let right = shown.max(1) + usize::from(more > 0);
    let rows = (file.len() + because.len()).max(right);
    let height = rows as i64 * LINE + 18;
    let class = if layer.place_is_file() {
        "panel"
    } else {
        "hollow"
    };
    canvas.rect(8, top, WIDTH - 16, height, class);
    let mut y = top + LINE + 3;
    for line in &file {
        canvas.text(20, y, "mono strong", "start", line);
        y += LINE;
    }
    for line in &because {
        canvas.text(20, y, "axis", "start", line);
        y += LINE;
    }
    let mut y = top + LINE + 3;
    for setting in layer.settings.iter().take(shown) {
        let class = if setting.in_effect {
            "mono"
        } else {
            "mono gone"
        };
        let value = if setting.value.is_empty() {
            "(empty)"
        } else {
            &setting.value
        };
        let text = escape::cut_end(&format!("{} = {value}", setting.name), 60).into_owned();
        canvas.text(SPLIT, y, class, "start", &text);
        y += LINE;
    }
    if shown == 0 {
        canvas.text(
            SPLIT,
            y,
            "axis",
            "start",
            "sets nothing of what is shown here",
        );
    }
    if more > 0 {
        let text = format!("{more} more in report.json");
        canvas.text(SPLIT, y, "axis", "start", &text);
    }
    top + height
}

impl Layer {
    /// Whether the layer is a file, and not what is built in.
    fn place_is_file(&self) -> bool {
        self.file.starts_with('/')
    }
}

/// Title of the drawing.
pub(crate) fn title(layers: &RuntimeLayers) -> String {
    let used = match layers.used_by_kubelet.as_str() {
        "yes" => ", used by the kubelet",
        "no" => ", not used by the kubelet",
        _ => "",
    };
    let whole = if layers.complete {
        ""
    } else {
        "; a file that decides was not captured"
    };
    format!(
        "What sets the configuration of {}{used}{whole}",
        layers.instance
    )
}

/// The same as text, in the order of reading.
pub(crate) fn text_form(layers: &RuntimeLayers) -> String {
    // Writing to a String cannot fail.
    let mut out = String::new();
    for layer in &layers.layers {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&escape::one_line(&layer.file));
        if !layer.because.is_empty() {
            let _ = write!(out, " ({})", escape::one_line(&layer.because));
        }
        for setting in layer.settings.iter().take(MOST) {
            let place = setting
                .place
                .as_ref()
                .map(|place| format!("  ({place})"))
                .unwrap_or_default();
            let gone = if setting.in_effect {
                ""
            } else {
                "  [taken back by a later file]"
            };
            let value = escape::one_line(&setting.value);
            let name = escape::one_line(&setting.name);
            let _ = write!(out, "\n  {name} = {value}{gone}{place}");
        }
        if layer.settings.len() > MOST {
            let more = layer.settings.len() - MOST;
            let _ = write!(out, "\n  {more} more in report.json");
        }
    }
    out
}
