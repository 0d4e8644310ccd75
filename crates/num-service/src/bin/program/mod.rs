//! What a program does, whichever it is.

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;

/// Runs a program with the arguments that it was given. What it logs, and the error that ends it, go to standard error.
pub(crate) fn run<Arguments: Parser>(body: impl FnOnce(&Arguments) -> Result<(), Box<dyn Error>>) -> ExitCode {
    // Another crate of a workspace may turn the feature of colours on, which journals do not show.
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
    match body(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
