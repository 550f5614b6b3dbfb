//! Pictures of figures: geometry only, which the templates of `templates/pictures` draw. Page and
//! files hold the same SVG.

mod blocks;
mod course;
mod dots;
mod flame;
mod forest;
mod frame;
mod grid;
mod scale;
mod sizes;
mod stretches;
mod trend;
mod waterfall;

use askama::Template;
use course::Course;
use dots::Dots;
use flame::Flame;
use forest::Forest;
use grid::Grid;
use sizes::SizeChart;
use stretches::Stretches;
use tare_analysis::merge::Merged;
use tare_analysis::trend::Trend;
use tare_analysis::why::Gap;
use tare_analysis::{Analysis, Comparison, Evidence, ScoreTable, SizeEffect, Tuned};
use waterfall::Waterfall;

/// Colours that the style sheet has for series; further ones begin again.
const COLOURS: usize = 6;

#[derive(Debug, Clone)]
pub enum Picture {
    /// Costs with their intervals, a row for each.
    #[doc(hidden)]
    Forest(Forest),
    /// Workloads against platforms.
    #[doc(hidden)]
    Grid(Grid),
    /// Several figures on each row.
    #[doc(hidden)]
    Dots(Dots),
    /// Costs along time.
    #[doc(hidden)]
    Course(Course),
    /// Costs by the size of the box.
    #[doc(hidden)]
    Sizes(SizeChart),
    /// What a cost consists of.
    #[doc(hidden)]
    Waterfall(Waterfall),
    /// Stretches of time by their lengths.
    #[doc(hidden)]
    Stretches(Stretches),
    /// CPU time by functions of the kernel.
    #[doc(hidden)]
    Flame(Flame),
}

/// A picture by itself.
#[derive(Template)]
#[template(path = "pictures/file.svg", escape = "html")]
struct File<'a> {
    picture: &'a Picture,
}

impl Picture {
    /// What is shown to differ or to be equal, the largest difference first; `margin` as a ratio less 1.
    pub fn shown(analysis: &Analysis) -> Option<Self> {
        forest::shown(analysis).map(Self::Forest)
    }

    pub fn open(analysis: &Analysis) -> Option<Self> {
        forest::open(analysis).map(Self::Forest)
    }

    /// Every one of these comparisons.
    pub fn forest(analysis: &Analysis, comparisons: &[&Comparison]) -> Option<Self> {
        forest::all(analysis, comparisons).map(Self::Forest)
    }

    /// What each of several hosts says, and what all say together.
    pub fn hosts(merged: &Merged) -> Option<Self> {
        forest::hosts(merged).map(Self::Forest)
    }

    /// What each level of a parameter costs over the first one.
    pub fn levels(tunings: &[Tuned]) -> Option<Self> {
        forest::levels(tunings).map(Self::Forest)
    }

    /// Request latency.
    pub fn latencies(analysis: &Analysis) -> Option<Self> {
        dots::latencies(analysis).map(Self::Dots)
    }

    /// Typical, mean and CPU cost of what ran in slices.
    pub fn slices(analysis: &Analysis) -> Option<Self> {
        dots::costs(analysis).map(Self::Dots)
    }

    /// The noise of each cell over that of its baseline.
    pub fn steadiness(analysis: &Analysis) -> Option<Self> {
        dots::steadiness(analysis).map(Self::Dots)
    }

    /// How long boxes take to start and to go.
    pub fn starts(analysis: &Analysis) -> Option<Self> {
        dots::starts(analysis).map(Self::Dots)
    }

    /// The cost in every block.
    pub fn blocks(analysis: &Analysis) -> Option<Self> {
        blocks::draw(analysis).map(Self::Course)
    }

    /// Costs over the runs of some files.
    pub fn trend(trend: &Trend) -> Option<Self> {
        trend::draw(trend).map(Self::Course)
    }

    /// Workloads against kinds of box.
    pub fn heat(analysis: &Analysis) -> Option<Self> {
        grid::heat(analysis).map(Self::Grid)
    }

    /// Scores of platforms.
    pub fn scores(table: &ScoreTable) -> Option<Self> {
        grid::scores(table).map(Self::Grid)
    }

    /// Costs by the size of the box; `margin` as a ratio less 1.
    pub fn sizes(effects: &[SizeEffect], margin: f64) -> Option<Self> {
        sizes::chart(effects, margin).map(Self::Sizes)
    }

    /// What each mechanism adds to the baseline's cost.
    pub fn waterfall(gaps: &[Gap]) -> Option<Self> {
        waterfall::draw(gaps).map(Self::Waterfall)
    }

    /// Stretches of time on and off the CPU, of each cell beside its baseline.
    pub fn stretches(evidence: &[Evidence]) -> Option<Self> {
        stretches::draw(evidence).map(Self::Stretches)
    }

    /// Where a cell's CPU time goes in the kernel.
    pub fn flame(evidence: &Evidence) -> Option<Self> {
        flame::draw(evidence).map(Self::Flame)
    }

    /// Its name in files: letters and hyphens.
    pub fn id(&self) -> &str {
        match self {
            Self::Forest(forest) => forest.id,
            Self::Grid(grid) => grid.id,
            Self::Course(course) => course.id,
            Self::Dots(dots) => dots.id,
            Self::Sizes(_) => "sizes",
            Self::Waterfall(_) => "waterfall",
            Self::Stretches(_) => "stretches",
            Self::Flame(flame) => &flame.id,
        }
    }

    /// Columns of its drawing.
    pub fn width(&self) -> String {
        px(self.columns())
    }

    fn columns(&self) -> f64 {
        match self {
            Self::Forest(forest) => forest.width,
            Self::Grid(grid) => grid.width,
            Self::Course(course) => course.width,
            Self::Dots(dots) => dots.width,
            Self::Sizes(chart) => chart.width,
            Self::Waterfall(chart) => chart.width,
            Self::Stretches(chart) => chart.width,
            Self::Flame(flame) => flame.width,
        }
    }

    /// Which windows are told to scroll it, as the style sheet has them; `None` if it fits into all.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        let widths = [
            (780.0, "below-60"),
            (664.0, "below-52"),
            (520.0, "below-45"),
            (424.0, "below-36"),
            (340.0, "below-30"),
        ];
        let columns = self.columns();
        widths
            .into_iter()
            .find(|(from, _)| columns >= *from)
            .map(|(_, class)| class)
    }

    /// Rows of its drawing.
    pub fn height(&self) -> String {
        match self {
            Self::Forest(forest) => forest.height.clone(),
            Self::Grid(grid) => grid.height.clone(),
            Self::Course(course) => course.height.clone(),
            Self::Dots(dots) => dots.height.clone(),
            Self::Sizes(chart) => px(chart.height),
            Self::Waterfall(chart) => px(chart.height),
            Self::Stretches(chart) => px(chart.height),
            Self::Flame(flame) => px(flame.height),
        }
    }

    /// What it shows.
    pub fn caption(&self) -> &str {
        match self {
            Self::Forest(forest) => forest.caption,
            Self::Grid(grid) => &grid.caption,
            Self::Course(course) => &course.caption,
            Self::Dots(dots) => dots.caption,
            Self::Sizes(_) => sizes::CAPTION,
            Self::Waterfall(_) => waterfall::CAPTION,
            Self::Stretches(_) => stretches::CAPTION,
            Self::Flame(_) => flame::CAPTION,
        }
    }

    /// The picture as a file.
    ///
    /// # Errors
    /// None that a picture can cause: it is written to memory.
    pub fn svg(&self) -> Result<String, askama::Error> {
        let svg = File { picture: self }.render()?;
        Ok(crate::html::printable(&svg))
    }
}

/// Columns of a drawing between two of its parts.
const GAP: f64 = 14.0;
/// Columns that a letter takes in a wide font.
const LETTER: f64 = 7.8;

/// The columns that the longest of some labels takes: names take as much as they need, so that narrow windows
/// show more of what is drawn.
fn room<'a>(labels: impl Iterator<Item = &'a str>) -> f64 {
    let letters = |label: &str| label.chars().fold(0.0, |n, _| n + 1.0);
    LETTER * labels.map(letters).fold(0.0, f64::max)
}

/// A label with its middle left out where it is longer than so many letters: both ends tell
/// platforms apart.
fn shortened(label: &str, longest: usize) -> String {
    let letters: Vec<char> = label.chars().collect();
    if letters.len() <= longest {
        return label.to_owned();
    }
    let half = longest / 2;
    let ends = [&letters[..half], &letters[letters.len() - half..]];
    ends.map(|end| end.iter().collect::<String>()).join("…")
}

/// Coordinates to a tenth of a unit, without a needless decimal.
fn px(value: f64) -> String {
    let shown = format!("{value:.1}");
    shown
        .strip_suffix(".0")
        .map_or_else(|| shown.clone(), str::to_owned)
}
