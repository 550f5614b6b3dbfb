//! `tare selftest coverage`: simulated data, and how often the method is right.

use super::eta::Eta;
use crate::args::selftest::CoverageArgs;
use crate::out;
use anyhow::Context;
use std::process::ExitCode;
use tare_host::{build_id, host, interrupt};
use tare_model::size::counted;
use tare_selftest::simulate::simulate;
use tare_selftest::table::{Row, Table, Verdict, text};

/// Simulates every case and prints the table.
pub fn run(args: &CoverageArgs) -> anyhow::Result<ExitCode> {
    interrupt::install().context("cannot handle signals")?;
    let mut eta = Eta::new();
    let rows = simulate(
        &tare_selftest::all(),
        args.draws,
        args.seed,
        host::allowed_cpus().len(),
        &mut |done| {
            eta.show(done, &format!("{:.0} % simulated", 100.0 * done));
            !interrupt::requested()
        },
    );
    eta.finish();
    let Some(rows) = rows else {
        out::say("stopped; a simulation keeps no partial results");
        return Ok(ExitCode::from(out::INTERRUPTED));
    };
    if args.json {
        out::print_json(&Table {
            tare: tare_model::VERSION,
            build: build_id::own(),
            draws: args.draws,
            seed: args.seed,
            rows: &rows,
        })?;
    } else {
        out::print(&report(&rows, args))?;
    }
    Ok(if differing(&rows) == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(out::FAILED)
    })
}

fn differing(rows: &[Row]) -> usize {
    rows.iter().filter(|row| row.verdict == Verdict::Differs).count()
}

fn report(rows: &[Row], args: &CoverageArgs) -> String {
    let of = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let heading = format!(
        "{} of each case, seed {}; +- is the standard error of the simulation",
        counted(args.draws, "draw"),
        args.seed
    );
    format!(
        "{}{}\n{} as promised, {} as told, {} differ\n",
        out::wrapped("", 0, &heading),
        text(rows),
        of(Verdict::AsPromised),
        of(Verdict::AsTold),
        differing(rows)
    )
}
