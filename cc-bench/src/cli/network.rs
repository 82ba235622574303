//! `hosts` and `report`.

use super::{Failure, failed};
use crate::hosts::{Hosts, namespaces, remove_leftovers};
use crate::report;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum HostsCommand {
    /// Make the namespaces and leave them there
    Up {
        /// Their name, 1 to 32 letters and digits
        #[arg(long, default_value = "mine")]
        name: String,
    },
    /// Remove them, and those that interrupted runs have left
    Down {
        /// Their name
        #[arg(long, default_value = "mine")]
        name: String,
    },
    /// List the namespaces of this program
    List,
}

pub(super) fn hosts(command: &HostsCommand) -> Result<ExitCode, Failure> {
    match command {
        HostsCommand::Up { name } => Hosts::up(name).map(Hosts::keep),
        HostsCommand::Down { name } => Hosts::down(name).and_then(|count| {
            let left = remove_leftovers()?;
            eprintln!("{count} removed, and {left} left by interrupted runs");
            Ok(())
        }),
        HostsCommand::List => namespaces().map(|names| names.iter().for_each(|name| println!("{name}"))),
    }
    .map_err(|error| failed(&error))?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Args, Debug)]
pub(super) struct ReportArgs {
    /// Folders of records
    #[arg(required = true, value_name = "FOLDER")]
    records: Vec<PathBuf>,
    /// Folder that plots are written to, as SVG; none if not given
    #[arg(long, value_name = "FOLDER")]
    plots: Option<PathBuf>,
}

pub(super) fn report(arguments: &ReportArgs) -> Result<ExitCode, Failure> {
    let sweeps = arguments.records.iter().map(|folder| report::read(folder));
    let sweeps = sweeps.collect::<Result<Vec<_>, _>>().map_err(|error| failed(&error))?;
    print!("{}", report::markdown(&sweeps));
    if let Some(folder) = &arguments.plots {
        for file in report::plots(&sweeps, folder).map_err(|error| failed(&error))? {
            eprintln!("{}", file.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}
