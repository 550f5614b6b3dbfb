//! Reasons to believe the figures, or to doubt them, as names and values.

use crate::document::Section;
use crate::words::facts;
use tare_analysis::Analysis;

pub(super) fn sections(analysis: &Analysis) -> impl Iterator<Item = Section> {
    let boxes = analysis.boxes.iter().map(facts::inside).collect();
    let platforms = analysis.platforms.iter().map(facts::platform).collect();
    let lists = [
        (Section::evidence("Every kind of box from inside"), boxes),
        (Section::detail("Platforms"), platforms),
        (Section::detail("Study"), facts::study(analysis)),
        (Section::detail("Run"), facts::run(analysis)),
        (Section::detail("Host"), facts::host(analysis)),
    ];
    lists
        .into_iter()
        .filter_map(|(section, list)| section.facts(list).unless_empty())
}
