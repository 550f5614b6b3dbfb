//! Reasons to believe the figures, or to doubt them, as names and values.

use crate::document::Section;
use crate::words::facts;
use tare_analysis::Analysis;

pub(super) fn sections(analysis: &Analysis) -> impl Iterator<Item = Section> {
    let boxes = analysis.boxes.iter().map(facts::inside).collect();
    let platforms = analysis.platforms.iter().map(facts::platform).collect();
    let lists = [
        ("Every kind of box from inside", boxes),
        ("Platforms", platforms),
        ("Study", facts::study(analysis)),
        ("Run", facts::run(analysis)),
        ("Host", facts::host(analysis)),
    ];
    lists
        .into_iter()
        .filter_map(|(title, list)| Section::detail(title).facts(list).unless_empty())
}
