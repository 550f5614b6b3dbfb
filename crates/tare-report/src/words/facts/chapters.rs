//! What a study file says in words, as names and values in the order of its chapters.

use super::fact::Fact;
use tare_model::template::{Chapter, LeftOut, Template};

/// The study's title and chapters, and what it names and tare does not have.
pub(crate) fn chapters(template: &Template) -> Vec<Fact> {
    let size = if template.small { ", small size" } else { "" };
    let title = format!("{} ({}{size})", template.title, template.source);
    let mut facts = vec![("study".to_owned(), title)];
    for chapter in Chapter::ALL {
        let text = template.texts.get(&chapter);
        facts.extend(text.map(|text| (chapter.name().to_owned(), text.clone())));
        match chapter {
            Chapter::Requirement => {
                let questions = template.questions.iter();
                facts.extend(questions.map(|q| ("question".to_owned(), q.clone())));
            }
            Chapter::Features if !template.features.is_empty() => {
                let features: Vec<String> = template.features.iter().map(ToString::to_string).collect();
                facts.push(("service features".to_owned(), features.join(", ")));
            }
            _ => {}
        }
    }
    let left_out = |item: &LeftOut| {
        let value = format!("{} {}: {}", item.what, item.name, item.why);
        ("skipped".to_owned(), value)
    };
    facts.extend(template.left_out.iter().map(left_out));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tare_model::template::Missing;

    #[test]
    fn chapters_are_told_in_their_order_and_what_is_left_out_last() {
        let template = Template {
            source: "s.toml".to_owned(),
            small: true,
            title: "t".to_owned(),
            questions: vec!["q?".to_owned()],
            features: Vec::new(),
            texts: BTreeMap::from([
                (Chapter::Conclusion, "c".to_owned()),
                (Chapter::Requirement, "r".to_owned()),
            ]),
            left_out: vec![LeftOut {
                what: Missing::Workload,
                name: "fio".to_owned(),
                feature: None,
                why: "not yet".to_owned(),
            }],
        };
        let told: Vec<String> = chapters(&template)
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            told,
            [
                "study=t (s.toml, small size)",
                "requirement=r",
                "question=q?",
                "conclusion=c",
                "skipped=workload fio: not yet"
            ]
        );
    }
}
