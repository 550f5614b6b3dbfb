//! Platform by workload.

use super::{kind, kind_columns, reading};
use crate::chart::Picture;
use crate::document::{Cell, Column, Document, Section, Show, Table};
use crate::show::{change_beside, change_interval, margin, ratio};
use crate::words::open::{self, Where};
use crate::words::{course, notices};
use tare_analysis::advice::{
    Advice, Choice, Held, Missing, Outcome, Pinning, Row, Saving, Setting, SmallestSize,
};
use tare_analysis::{Analysis, Estimate, FEWEST_PAIRS, Word};
use tare_model::metric::Unit;

/// The answer, the platforms beside one another, pinning, sizes, rules, what is missing, what next.
pub fn advice(analysis: &Analysis, advice: &Advice, place: Where<'_>) -> Document {
    let next = open::open(analysis, place).map(|open| {
        let command = open
            .command
            .map_or_else(String::new, |command| format!(" {command}"));
        format!("{}{command}", open.words)
    });
    let missing = advice.missing.iter().map(|what| words(*what).to_owned());
    let sections = [
        Section::new("Platform by workload")
            .list(answer(analysis, &advice.settings))
            .picture(Picture::heat(analysis)),
        Section::new("What boxes would save")
            .about("Mechanisms that are shown to cost something: what the box would save of its whole cost without them, by a cell that lacks this one alone where there is one, else as the mean over all orders of switching. Savings under the margin are omitted.")
            .table(savings(&advice.savings)),
        Section::new("Ranking by your weights").list(advice.settings.iter().filter_map(by_weights).collect()),
        Section::detail("Platforms side by side")
            .about("Cheapest first; differences are relative to the baseline. Next to the cost: the mean including stalls, the 99th percentile of latencies and the noise, each over the baseline's; start-up latency and idle memory of a single box, as medians over its boxes.")
            .table(choices(&advice.settings)),
        Section::new("Pinned or by quota")
            .about("Both over the baseline, pinned without a quota. One is called cheaper only if the verdicts show it.")
            .table(pinning(&advice.pinning)),
        Section::new("The smallest size").about("The smallest size at which a platform costs no more than at the largest, within the margin.").table(sizes(&advice.sizes)),
        Section::new("Best practices of studies, checked against these data").table(rules(&advice.rules)),
        Section::new("Not measured").list(missing.collect()),
        Section::new("What to measure next").list(next.into_iter().collect()),
        reading(vec![
            "Advice only covers what was measured here: on another host the order may differ.".to_owned(),
            "Platforms are compared with the baseline. Two others are called different only if both have a verdict, not both 'equal', and their intervals do not overlap.".to_owned(),
        ]),
    ];
    Document {
        whole: None,
        title: "Platform advice, based on measurements".to_owned(),
        subtitle: format!(
            "{} · {}",
            course::ran(&analysis.study, &analysis.run),
            course::host(analysis)
        ),
        answer: Vec::new(),
        notices: notices::all(&analysis.notices),
        sections: sections.into_iter().filter_map(Section::unless_empty).collect(),
    }
}

fn setting_name(setting: &Setting) -> String {
    let size = setting
        .instance
        .iter()
        .map(|name| format!(" {name}"))
        .collect::<String>();
    format!("{} ({}{size})", setting.workload, setting.provisioning)
}

/// A sentence for each setting; one for all those in which no platform has a verdict.
fn answer(analysis: &Analysis, settings: &[Setting]) -> Vec<String> {
    let is_told = |setting: &&Setting| real(setting).any(|choice| choice.word != Word::None);
    let (told, without): (Vec<&Setting>, Vec<&Setting>) = settings.iter().partition(is_told);
    let mut sentences: Vec<String> = told.iter().map(|s| sentence(analysis, s)).collect();
    if let [_, _, ..] = without[..] {
        let names: Vec<String> = without.iter().map(|s| setting_name(s)).collect();
        let few = (analysis.run.blocks < FEWEST_PAIRS)
            .then(|| format!("; verdicts need at least {FEWEST_PAIRS} blocks"));
        sentences.push(format!(
            "no verdict on any platform: {}{}",
            notices::some_of(&names),
            few.unwrap_or_default()
        ));
    } else {
        sentences.extend(without.iter().map(|s| sentence(analysis, s)));
    }
    sentences
}

/// The platforms that are held against the baseline, but for emulated machines.
fn real(setting: &Setting) -> impl Iterator<Item = &Choice> {
    let choices = setting.choices.iter();
    choices.filter(|c| !c.is_emulated && !c.is_baseline)
}

/// `syscall (pinned): docker costs 25 % more (24 to 26 %); nothing is shown against lxc (0.4 to ...)`.
fn sentence(analysis: &Analysis, setting: &Setting) -> String {
    let of = |words: &[Word]| {
        real(setting)
            .filter(|c| words.contains(&c.word))
            .collect::<Vec<&Choice>>()
    };
    let mut parts: Vec<String> = Vec::new();
    for choice in of(&[Word::Faster, Word::Slower]) {
        parts.extend(
            choice
                .cost
                .map(|e| format!("{} is {}", choice.platform, change(e))),
        );
    }
    let names = |of: Vec<&Choice>| {
        of.iter()
            .map(|c| c.platform.to_string())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let equal = of(&[Word::Equal]);
    if !equal.is_empty() {
        let within = margin(analysis.study.protocol.margin);
        let verb = if equal.len() == 1 { "costs" } else { "cost" };
        parts.push(format!(
            "{} {verb} as much as {} within {within}",
            names(equal),
            analysis.study.baseline
        ));
    }
    let open = of(&[Word::Inconclusive]);
    if !open.is_empty() {
        let names: Vec<String> = open
            .iter()
            .map(|c| format!("{}{}", c.platform, range(c)))
            .collect();
        parts.push(format!("inconclusive: {}", names.join(", ")));
    }
    let without = names(of(&[Word::None]));
    if !without.is_empty() {
        parts.push(format!("no verdict on {without}"));
    }
    if real(setting).next().is_none() {
        parts.push("only emulated machines were measured, which say nothing about real ones".to_owned());
    }
    format!("{}: {}", setting_name(setting), parts.join("; "))
}

/// What the interval leaves open: ` (0.982 to 1.046 times)`.
fn range(choice: &Choice) -> String {
    choice.cost.map_or_else(String::new, |e| {
        format!(" ({} to {} times)", ratio(e.low), ratio(e.high))
    })
}

/// `25 % slower (24 to 26 %)`.
fn change(cost: Estimate) -> String {
    let Estimate { value, low, high } = cost;
    format!(
        "{} ({})",
        change_beside(value, low, high),
        change_interval(value, low, high)
    )
}

fn by_weights(setting: &Setting) -> Option<String> {
    let winner = setting.winner.as_ref()?;
    let turns = winner.turns.iter().map(|turn| {
        format!(
            "{} at {} = {:.2}",
            turn.platform,
            turn.criterion.name(),
            turn.weight
        )
    });
    let turns: Vec<String> = turns.collect();
    let turns = if turns.is_empty() {
        String::new()
    } else {
        format!("; otherwise {}", turns.join(", "))
    };
    let left_out: Vec<String> = winner.left_out.iter().map(ToString::to_string).collect();
    let left_out = if left_out.is_empty() {
        String::new()
    } else {
        format!(
            "; not ranked (emulated, no verdict or no figure): {}",
            left_out.join(", ")
        )
    };
    Some(format!(
        "{}: {}{turns}{left_out}",
        setting_name(setting),
        winner.platform
    ))
}

fn choices(settings: &[Setting]) -> Table {
    let columns = vec![
        Column::name("workload"),
        Column::name("provisioning"),
        Column::name("size"),
        Column::name("platform"),
        Column::interval("cost", "cost of one typical run over the baseline's"),
        Column::name("shown"),
        Column::number("mean", "mean cost"),
        Column::number("p99", "of latencies, over the baseline's"),
        Column::number("noise", "over the baseline's"),
        Column::number("start", "median"),
        Column::number("MiB", "memory of an idle box"),
        Column::words("remarks"),
    ];
    let mut table = Table::new("choices", 3, columns);
    for setting in settings {
        setting
            .choices
            .iter()
            .for_each(|choice| table.push(choice_row(setting, choice)));
    }
    table
}

fn choice_row(setting: &Setting, choice: &Choice) -> Vec<Cell> {
    let times = |value| Cell::figure(value, Show::Ratio);
    let remark = match (choice.is_baseline, choice.is_emulated) {
        (true, _) => "baseline of the others",
        (_, true) => "emulated: says nothing about a machine with hardware support",
        _ => "",
    };
    vec![
        setting.workload.as_str().into(),
        setting.provisioning.to_string().into(),
        Cell::name(setting.instance.as_ref()),
        choice.platform.to_string().into(),
        Cell::interval(choice.cost, Show::Ratio),
        if choice.is_baseline {
            Cell::Blank
        } else {
            Cell::Verdict(choice.word)
        },
        times(choice.mean),
        choice
            .tail
            .map_or(Cell::Blank, |tail| Cell::Figure(tail, Show::Ratio)),
        times(choice.steadiness),
        Cell::figure(choice.start_seconds, Show::Briefly(Unit::Second)),
        Cell::figure(choice.memory_bytes, Show::Mebibytes),
        remark.into(),
    ]
}

fn pinning(all: &[Pinning]) -> Table {
    let columns = vec![
        Column::name("platform"),
        Column::name("size"),
        Column::name("workload"),
        Column::interval("pinned", "cost"),
        Column::interval("by quota", "cost"),
        Column::name("cheaper"),
    ];
    let row = |of: &Pinning| {
        vec![
            of.platform.to_string().into(),
            Cell::name(of.instance.as_ref()),
            of.workload.as_str().into(),
            Cell::Interval(of.pinned, Show::Ratio),
            Cell::Interval(of.vanilla, Show::Ratio),
            of.cheaper
                .map_or_else(|| "not shown".into(), |cheaper| cheaper.to_string().into()),
        ]
    };
    Table::new("pinning", 2, columns).with(all.iter().map(row))
}

fn savings(all: &[Saving]) -> Table {
    let mut columns = vec![Column::name("workload")];
    columns.extend(kind_columns());
    columns.extend([
        Column::name("mechanism"),
        Column::interval("saves", "of the whole cost"),
        Column::words("how"),
    ]);
    let row = |of: &Saving| {
        let mut row = vec![of.cell.workload.as_str().into()];
        row.extend(kind(&of.cell.kind));
        row.extend([
            of.mechanism.into(),
            Cell::Interval(of.saves, Show::Percent),
            of.remedy.into(),
        ]);
        row
    };
    Table::new("savings", 4, columns).with(all.iter().map(row))
}

fn sizes(all: &[SmallestSize]) -> Table {
    let columns = vec![
        Column::name("platform"),
        Column::name("provisioning"),
        Column::name("workload"),
        Column::number("CPUs", ""),
        Column::number("CHR", "CPUs of the box over those of the host"),
    ];
    let row = |of: &SmallestSize| {
        vec![
            of.platform.to_string().into(),
            of.provisioning.to_string().into(),
            of.workload.as_str().into(),
            Cell::figure(of.cpus, Show::Plain),
            Cell::figure(of.chr, Show::Decimals(2)),
        ]
    };
    Table::new("smallest-sizes", 2, columns).with(all.iter().map(row))
}

fn rules(all: &[Held]) -> Table {
    let columns = vec![
        Column::name("rule"),
        Column::name("outcome"),
        Column::number("rows", "that the rule is about"),
        Column::number("for", "rows that show it"),
        Column::number("against", "rows that show the opposite"),
        Column::words("what it says"),
        Column::words("by"),
    ];
    let row = |held: &Held| {
        let count = |shows: bool| held.rows.iter().filter(|row| row.shows == Some(shows)).count();
        vec![
            held.rule.id.into(),
            outcome(held.outcome),
            Cell::count(held.rows.len()),
            Cell::count(count(true)),
            Cell::count(count(false)),
            held.rule.text.into(),
            evidence(held).into(),
        ]
    };
    Table::new("rules", 0, columns).with(all.iter().map(row))
}

fn outcome(outcome: Outcome) -> Cell {
    match outcome {
        Outcome::Confirmed => Cell::State("confirmed", Word::Equal),
        Outcome::Contradicted => Cell::State("contradicted", Word::Slower),
        Outcome::CannotTell => Cell::State("not known", Word::Inconclusive),
    }
}

/// The rows that show something, a few of them.
fn evidence(held: &Held) -> String {
    const SHOWN: usize = 6;
    let telling: Vec<&Row> = held.rows.iter().filter(|row| row.shows.is_some()).collect();
    let mut told: Vec<String> = telling.iter().take(SHOWN).map(|row| figure(row)).collect();
    if telling.len() > SHOWN {
        told.push(format!("{} more", telling.len() - SHOWN));
    }
    told.join("; ")
}

fn figure(row: &Row) -> String {
    let side = if row.shows == Some(true) { "for" } else { "against" };
    let figures: Vec<String> = [row.figure, row.beside]
        .into_iter()
        .flatten()
        .map(|e| Show::Ratio.interval(e))
        .collect();
    let figures = if figures.is_empty() {
        String::new()
    } else {
        format!(" {}", figures.join(" beside "))
    };
    format!("{side}: {}{figures}", row.what)
}

const fn words(missing: Missing) -> &'static str {
    match missing {
        Missing::OtherProvisioning => {
            "the other provisioning, to know whether to pin (--provisioning vanilla,pinned)"
        }
        Missing::OtherSizes => {
            "other box sizes, to know what small boxes cost extra (--instance with several sizes)"
        }
        Missing::Steadiness => "30 blocks or more, to know which platform is steadier (--blocks 30)",
        Missing::OtherHosts => "three or more hosts, combined with 'tare merge'",
        Missing::RealMachines => "a machine with hardware support, as those here were emulated",
        Missing::FailedPlatforms => "the platforms that failed; 'tare doctor' shows what is missing",
    }
}
