//! The `voxtick` command line: runs scenarios, inspects worlds, measures.

mod arguments;
mod measure;
mod outcome;
mod progress;
mod run;
mod tables;
mod world;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command, WorldCommand};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    outcome::conclude(match &arguments.command {
        Command::Run(run) => run::run(run),
        Command::World(WorldCommand::Info(info)) => world::info::run(info),
        Command::World(WorldCommand::Map(map)) => world::map::run(map),
        Command::World(WorldCommand::Verify(verify)) => world::verify::run(verify),
        Command::World(WorldCommand::Repair(repair)) => world::repair::repair(repair),
        Command::World(WorldCommand::Compact(compact)) => world::repair::compact(compact),
        Command::World(WorldCommand::Convert(convert)) => world::transfer::convert(convert),
        Command::World(WorldCommand::Copy(copy)) => world::transfer::copy(copy),
        Command::World(WorldCommand::Relight(relight)) => world::relight::run(relight),
        Command::Measure(measure) => measure::run(measure),
    })
}
