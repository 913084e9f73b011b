//! Captures of some tools lie in one folder whose long name says nothing (a must-gather's is an image's digest): the
//! report names it once, and prints the places below it; the appendix file prints them in full.

use super::blocks::{Block, Inline, Rich};
use super::{Page, SectionView};

/// Characters of a folder's name that are too many to be printed with each place.
const LONG: usize = 40;

/// Prints places below the folder that all of them lie in, where its name is long.
pub(super) fn shorten(page: &mut Page<'_>) {
    let mut folders: Vec<String> = Vec::new();
    each_place(page, &mut |place| {
        // What is shortened already ends in a path that is unique enough.
        let folder = place.split_once('/').map_or("", |(folder, _)| folder);
        if folder != "…" && !folders.iter().any(|known| known == folder) {
            folders.push(folder.to_owned());
        }
    });
    let [folder] = folders.as_slice() else {
        return;
    };
    if folder.chars().count() < LONG {
        return;
    }
    let prefix = format!("{folder}/");
    each_place(page, &mut |place| {
        if let Some(below) = place.strip_prefix(&prefix) {
            *place = below.to_owned();
        }
    });
    let note = Rich::from("All places are paths below ")
        .code(prefix)
        .text(".");
    match page
        .sections
        .iter_mut()
        .find(|section| section.id == "appendix")
    {
        Some(section) => section.blocks.insert(0, Block::paragraph(note)),
        None => page.sections.push(SectionView {
            id: "appendix",
            title: "Appendix",
            blocks: vec![Block::paragraph(note)],
        }),
    }
}

fn each_place(page: &mut Page<'_>, visit: &mut dyn FnMut(&mut String)) {
    for row in &mut page.status {
        in_text(&mut row.text, visit);
    }
    in_blocks(&mut page.lead, visit);
    for section in &mut page.sections {
        in_blocks(&mut section.blocks, visit);
    }
}

fn in_blocks(blocks: &mut [Block], visit: &mut dyn FnMut(&mut String)) {
    for block in blocks {
        match block {
            Block::Heading { text, .. }
            | Block::Paragraph { text }
            | Block::Callout { text, .. } => {
                in_text(text, visit);
            }
            Block::List { items, .. } | Block::Message { lines: items, .. } => {
                items.iter_mut().for_each(|text| in_text(text, visit));
            }
            Block::Table { rows, .. } => {
                let cells = rows.iter_mut().flatten();
                cells.for_each(|text| in_text(text, visit));
            }
            Block::Excerpt { items, .. } => {
                items.iter_mut().for_each(|item| visit(&mut item.place))
            }
            Block::Details { blocks, .. } => in_blocks(blocks, visit),
            _ => {}
        }
    }
}

fn in_text(text: &mut Rich, visit: &mut dyn FnMut(&mut String)) {
    for part in &mut text.0 {
        if let Inline::Place { text, .. } = part {
            visit(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{example, page};
    use super::*;

    fn places(page: &mut Page<'_>) -> Vec<String> {
        let mut all = Vec::new();
        each_place(page, &mut |place| all.push(place.clone()));
        all
    }

    #[test]
    fn a_long_folder_of_all_places_is_named_once_and_a_short_one_stays() {
        let analysis = example::model_incident();
        let mut page = page(&analysis, 0);
        let before = places(&mut page);
        shorten(&mut page);
        assert_eq!(places(&mut page), before);
        let long = format!("registry-example-com-gather-{}", "0a".repeat(32));
        each_place(&mut page, &mut |place| *place = format!("{long}/{place}"));
        shorten(&mut page);
        assert_eq!(places(&mut page), before);
        let appendix = page.sections.iter().find(|one| one.id == "appendix");
        let note = format!("{:?}", appendix.and_then(|one| one.blocks.first()));
        assert!(note.contains(&long), "{note}");
    }
}
