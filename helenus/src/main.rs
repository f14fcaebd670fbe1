//! The `helenus` command.

use std::process::ExitCode;

mod command;

fn main() -> ExitCode {
    command::run()
}
