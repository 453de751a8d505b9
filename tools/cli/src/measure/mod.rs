//! `voxtick measure`: comparisons one can believe, in one run.
//!
//! A case has two sides that do the same job: ours and another (the reference, or the same code with another
//! setting). Preparing a case checks that both give the same result before either is timed; the sides then take turns
//! in one process, and the ratio is formed pair by pair. A subject is a module with one function that lists its cases.

mod anvil;
mod bodies;
mod case;
mod engine;
mod light;
mod queues;
mod rounds;
mod statistics;
mod table;
mod transit;

pub(crate) use case::{Case, CaseError, Pair};

use std::io::{self, Write};

use table::Lines;

use crate::arguments::MeasureArguments;
use crate::outcome::{Failure, Outcome};

/// All cases of all subjects, in the order in which they are listed and run.
fn cases() -> Vec<Case> {
    let subjects =
        [engine::cases(), anvil::cases(), bodies::cases(), light::cases(), queues::cases(), transit::cases()];
    subjects.into_iter().flatten().collect()
}

/// Runs `voxtick measure`.
pub(crate) fn run(arguments: &MeasureArguments) -> Result<Outcome, Failure> {
    let cases: Vec<Case> = cases().into_iter().filter(|case| arguments.selects(&case.name)).collect();
    if cases.is_empty() {
        let known: Vec<String> = self::cases().into_iter().map(|case| case.name).collect();
        return Err(Failure::usage(format!(
            "no case begins with {}; `voxtick measure --list` shows all {}",
            arguments.subjects.join(" or "),
            known.len()
        )));
    }
    let mut out = io::stdout().lock();
    if arguments.list {
        for case in &cases {
            writeln!(out, "{}", case.name).map_err(Failure::output)?;
        }
        return Ok(Outcome::Success);
    }
    let mut unequal = false;
    let lines = Lines::for_cases(&cases);
    let progress = crate::progress::steps(cases.len() as u64, "cases");
    let mut say = |line: String| progress.suspend(|| writeln!(out, "{line}")).map_err(Failure::output);
    if !arguments.json {
        say(lines.header())?;
    }
    for case in cases {
        let name = case.name.clone();
        progress.set_message(name.clone());
        match rounds::measure(case, arguments.rounds) {
            Ok(row) if arguments.json => {
                say(serde_json::to_string(&row).map_err(|error| Failure::output(error.into()))?)?;
            }
            Ok(row) => say(lines.row(&row))?,
            Err(error) => {
                unequal = true;
                progress.suspend(|| crate::outcome::complain(&format!("{name}: {error}")));
            }
        }
        progress.inc(1);
    }
    if !arguments.json {
        say(table::footer(arguments.rounds))?;
    }
    progress.finish_and_clear();
    Ok(if unequal { Outcome::Found } else { Outcome::Success })
}
