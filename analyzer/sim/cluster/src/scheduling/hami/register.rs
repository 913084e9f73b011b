//! The annotations of nodes and pods in their encodings.

use super::card::{Card, Share};

/// Reads a node's cards: JSON, or the older text of comma-separated fields, each card ended by a colon. Older plugins
/// wrote seven fields, later ones nine (index and mode at the end).
///
/// # Errors
/// Says what does not fit; HAMi's scheduler then does not know the node.
pub fn devices(text: &str) -> Result<Vec<Card>, String> {
    let text = text.trim();
    let cards = if text.starts_with('[') {
        serde_json::from_str::<Vec<Card>>(text)
            .map_err(|error| format!("the list of cards is not readable: {error}"))?
    } else {
        let parts = text.split(':').filter(|part| part.contains(','));
        parts.map(card).collect::<Result<_, _>>()?
    };
    if cards.is_empty() {
        return Err("the list of cards is empty".into());
    }
    Ok(cards)
}

fn card(text: &str) -> Result<Card, String> {
    let fields: Vec<&str> = text.split(',').collect();
    let (index, mode) = match fields.len() {
        7 => (0, "hami-core"),
        9 => (fields[7].parse().unwrap_or(0), fields[8]),
        other => return Err(format!("a card has {other} fields, expected 7 or 9")),
    };
    let number = |at: usize, what: &str| -> Result<i64, String> {
        let text = fields[at];
        text.parse().map_err(|_| {
            format!(
                "{what} of a card is no number: {}",
                &text[..text.floor_char_boundary(40)]
            )
        })
    };
    Ok(Card {
        id: fields[0].to_owned(),
        count: number(1, "the split count")?,
        devmem: number(2, "the memory")?,
        devcore: number(3, "the cores")?,
        kind: fields[4].to_owned(),
        numa: fields[5].parse().unwrap_or(0),
        health: fields[6] == "true",
        index,
        mode: mode.to_owned(),
        ..Card::default()
    })
}

/// Reads what a pod holds: containers ended by semicolons, shares by colons, a share as UUID, type, MiB, percent. What
/// does not read so is left out.
pub fn allocated(text: &str) -> Vec<Vec<Share>> {
    let containers = text.split(';');
    containers
        .map(|container| container.split(':').filter_map(share).collect())
        .collect()
}

fn share(text: &str) -> Option<Share> {
    let mut fields = text.split(',');
    let uuid = fields.next()?.trim();
    let _type = fields.next()?;
    Some(Share {
        uuid: uuid.to_owned(),
        memory: fields.next()?.parse().ok()?,
        cores: fields.next()?.parse().ok()?,
    })
}
