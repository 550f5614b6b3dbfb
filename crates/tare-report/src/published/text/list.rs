//! All studies in brief.

use super::super::{Library, Published};
use crate::text::TextOptions;
use crate::text::page::{Page, Style};

/// Every study in two lines.
pub fn list(library: &Library, options: TextOptions) -> String {
    let mut page = Page::new(options);
    let studies = &library.studies;
    let sum = |of: fn(&Published) -> usize| studies.iter().map(of).sum::<usize>();
    let intro = format!(
        "{} studies, {} figures, {} claims that can be checked. None was measured by tare.",
        studies.len(),
        sum(Published::figures),
        sum(Published::checkable),
    );
    page.wrapped("", 0, Style::Bold, &intro);
    page.blank();
    let heading = format!(
        "  {:<23}{:<6}{:>7}  what, and the host",
        "study", "year", "figures"
    );
    page.line(&[(Style::Dim, &heading)]);
    for study in studies {
        let about = &study.study;
        let first = format!("  {:<23}{:<6}{:>7}", about.id, about.year, study.figures());
        page.wrapped(&first, 40, Style::Plain, &about.title);
        page.wrapped("", 40, Style::Dim, &about.host);
    }
    page.blank();
    let next = "tare published show STUDY | check [STUDY] | workload NAME | scores; tare compare RESULTS --published STUDY";
    page.wrapped("", 0, Style::Dim, next);
    page.finish()
}
