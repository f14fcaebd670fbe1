//! `helenus-codec-bench [--json] [--no-instructions] [NAME]`: every scenario, or those whose name begins so.

use std::process::ExitCode;

use helenus_codec_bench::contender::{Entry, Scenario};
use helenus_codec_bench::report::{Line, Measured};
use helenus_codec_bench::{cost, report, scenarios, targets, time};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (options, names): (Vec<&str>, Vec<&str>) = arguments
        .iter()
        .map(String::as_str)
        .partition(|argument| argument.starts_with("--"));
    let prefix = names.first().copied().unwrap_or_default();
    let scenarios: Vec<Scenario> = scenarios::all()
        .into_iter()
        .filter(|scenario| scenario.name.starts_with(prefix))
        .collect();
    let outcome = match options[..] {
        // What callgrind looks at.
        ["--count"] => {
            cost::run(&scenarios);
            Ok(())
        }
        [] => print(&scenarios, prefix, Format::Table, Counting::Instructions),
        ["--json"] => print(&scenarios, prefix, Format::Json, Counting::Instructions),
        ["--no-instructions"] => print(&scenarios, prefix, Format::Table, Counting::Nothing),
        _ => Err("usage: helenus-codec-bench [--json|--no-instructions] [NAME]".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("helenus-codec-bench: {message}");
            ExitCode::FAILURE
        }
    }
}

#[derive(PartialEq)]
enum Format {
    Table,
    Json,
}

#[derive(PartialEq)]
enum Counting {
    Instructions,
    Nothing,
}

fn print(
    scenarios: &[Scenario],
    prefix: &str,
    format: Format,
    counting: Counting,
) -> Result<(), String> {
    for scenario in scenarios {
        agreed(scenario)?;
    }
    let costs = match counting {
        Counting::Instructions => cost::of(scenarios, &["--count", prefix])?,
        Counting::Nothing => vec![[None; 4]; scenarios.len()],
    };
    let mut lines = Vec::new();
    for (scenario, costs) in scenarios.iter().zip(costs) {
        let entries = (scenario.entries)().map(|entry| matches!(entry, Entry::Panics));
        let mut measured = [Measured::Lacks; 4];
        let times = time::of(scenario);
        for (place, ((time, cost), panics)) in measured
            .iter_mut()
            .zip(times.into_iter().zip(costs).zip(entries))
        {
            *place = match time {
                Some(time) => Measured::Figures(time, cost),
                None if panics => Measured::Panics,
                None => Measured::Lacks,
            };
        }
        lines.push(Line {
            name: scenario.name,
            measured,
        });
    }
    let profile = profile();
    let missed = targets::missed(&profile, &lines);
    if format == Format::Json {
        println!("{}", report::json(&profile, &lines, &missed));
        return Ok(());
    }
    println!("## Profile `{profile}`\n\n{}", report::table(&lines));
    println!("Missed: {}.\n", missed.len());
    for missed in missed {
        println!("* {missed}");
    }
    println!();
    Ok(())
}

/// Fails if the contenders don't find the same.
fn agreed(scenario: &Scenario) -> Result<(), String> {
    let found: Vec<Option<u64>> = (scenario.entries)()
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::Works(mut work) => Some(work.run(2)),
            Entry::Lacks | Entry::Panics => None,
        })
        .collect();
    match found.iter().all(|one| one.is_some() && *one == found[0]) {
        true => Ok(()),
        false => Err(format!("{}: they don't agree: {found:?}", scenario.name)),
    }
}

/// The profile that this was built with, by the directory it was put into.
fn profile() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let directory = path.parent().and_then(|directory| directory.file_name());
    directory.unwrap_or_default().to_string_lossy().into_owned()
}
