//! `helenus-fuzz`: runs the targets on their seeds and on mutations of them.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool"
)]

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use fastrand::Rng;
use helenus_fuzz::{
    TARGETS, Target, export, from_hex, import, mutate, seeds, send, sent_bytes, target, to_hex,
};

/// Runs fuzz targets: first every seed as it is, then mutations of them, the same ones for the same seed.
#[derive(Debug, Parser)]
#[command(name = "helenus-fuzz", version)]
struct Arguments {
    /// The targets to run; all, if none is named.
    #[arg(value_parser = known_target)]
    targets: Vec<&'static Target>,
    /// Mutations a target.
    #[arg(long, default_value_t = 20_000, conflicts_with = "seconds")]
    runs: u64,
    /// Go on for so long a target instead.
    #[arg(long)]
    seconds: Option<u64>,
    /// Decides the mutations.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run one input, in hex, and nothing else.
    #[arg(long, value_name = "HEX", value_parser = parse_hex, requires = "targets")]
    input: Option<Hex>,
    /// Write the seeds into DIR/TARGET, a file each, for libFuzzer to begin with.
    #[arg(long, value_name = "DIR", conflicts_with = "input")]
    export: Option<PathBuf>,
    /// Add the files in DIR/TARGET, which libFuzzer found worth keeping, to the corpus in the repository.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["input", "export"])]
    import: Option<PathBuf>,
    /// Send the inputs of `server` and `cql` to the server at this address instead, a connection each.
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["input", "export", "import"])]
    send: Option<SocketAddr>,
    /// Print one JSON object a target.
    #[arg(long)]
    json: bool,
    /// Name the targets and stop.
    #[arg(long)]
    list: bool,
}

#[derive(Debug, Clone)]
struct Hex(Vec<u8>);

fn parse_hex(text: &str) -> Result<Hex, String> {
    from_hex(text)
        .map(Hex)
        .ok_or_else(|| "not hex digits in pairs".into())
}

fn known_target(name: &str) -> Result<&'static Target, String> {
    target(name).ok_or_else(|| {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        format!("no such target; there are {}", names.join(", "))
    })
}

thread_local! {
    /// The target and its input, for whatever ends the run.
    static CURRENT: RefCell<(&'static str, Vec<u8>)> = const { RefCell::new(("", Vec::new())) };
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.list {
        for target in TARGETS {
            println!("{:14} {}", target.name, target.about);
        }
        return ExitCode::SUCCESS;
    }
    report_findings();
    let chosen: Vec<&Target> = match arguments.targets.as_slice() {
        [] => TARGETS.iter().collect(),
        named => named.to_vec(),
    };
    for target in chosen {
        let done = match &arguments {
            Arguments {
                input: Some(Hex(input)),
                ..
            } => {
                execute(target, input.clone());
                Ok(())
            }
            Arguments {
                export: Some(directory),
                ..
            } => export(target.name, directory),
            Arguments {
                import: Some(directory),
                ..
            } => import(target.name, directory),
            _ => run(target, &arguments),
        };
        if let Err(error) = done {
            eprintln!("helenus-fuzz: {}: {error}", target.name);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// A panic is a finding: its input is shown, and how to run it again. It ends the run, unwinding or not.
fn report_findings() {
    let show = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        show(panic);
        CURRENT.with_borrow(|(target, input)| {
            let hex = to_hex(input);
            eprintln!(
                "\nfinding in {target}; to run it again:\n  helenus-fuzz {target} --input {hex}"
            );
        });
    }));
}

fn execute(target: &Target, input: Vec<u8>) {
    CURRENT.with_borrow_mut(|current| *current = (target.name, input));
    // Borrowed again by the hook, should this panic: both only look.
    CURRENT.with_borrow(|(_, input)| (target.run)(input));
}

/// Runs an input, or sends it.
fn give(target: &Target, arguments: &Arguments, input: Vec<u8>) -> io::Result<()> {
    let Some(address) = arguments.send else {
        execute(target, input);
        return Ok(());
    };
    match sent_bytes(target.name, &input) {
        Some(bytes) => send(address, &bytes),
        None => Ok(()),
    }
}

fn run(target: &Target, arguments: &Arguments) -> io::Result<()> {
    if arguments.send.is_some() && sent_bytes(target.name, &[]).is_none() {
        return Ok(());
    }
    let began = Instant::now();
    let seeds = seeds(target.name);
    for seed in &seeds {
        give(target, arguments, seed.clone())?;
    }
    let end = arguments.seconds.map(Duration::from_secs);
    let mut rng = Rng::with_seed(arguments.seed);
    let mut mutations = 0;
    let is_over = |mutations: u64| match end {
        // The clock is asked now and then.
        Some(end) => mutations.is_multiple_of(64) && began.elapsed() >= end,
        None => mutations >= arguments.runs,
    };
    while !is_over(mutations) && !seeds.is_empty() {
        let pick = |rng: &mut Rng| &seeds[rng.usize(..seeds.len())];
        let (one, other) = (pick(&mut rng), pick(&mut rng));
        let input = mutate(&mut rng, one, other, target.words);
        give(target, arguments, input)?;
        mutations += 1;
    }
    let seconds = began.elapsed().as_secs_f64();
    if arguments.json {
        println!(
            r#"{{"target":"{}","seeds":{},"mutations":{mutations},"seconds":{seconds:.1},"findings":0}}"#,
            target.name,
            seeds.len()
        );
    } else {
        println!(
            "{:14} {:6} seeds, {mutations:10} mutations, {seconds:7.1} s, no finding",
            target.name,
            seeds.len()
        );
    }
    Ok(())
}
