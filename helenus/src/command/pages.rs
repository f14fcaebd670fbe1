//! `helenus completions` and `helenus man`: made of the same grammar that reads the command line.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man as Page;

use super::arguments::Arguments;

/// The flags of `helenus completions`.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(after_help = "\
Examples:
  helenus completions bash > ~/.local/share/bash-completion/completions/helenus
  helenus completions zsh > \"${fpath[1]}/_helenus\"
  helenus completions fish > ~/.config/fish/completions/helenus.fish")]
pub(super) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// The flags of `helenus man`.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(after_help = "\
Examples:
  helenus man serve | man -l -
  helenus man --out /usr/local/share/man/man1")]
pub(super) struct Man {
    /// The subcommand whose page is written to standard output [default: the overview]
    #[arg(value_name = "SUBCOMMAND", conflicts_with = "out")]
    subcommand: Option<String>,

    /// Write the pages of all subcommands into this folder
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Writes a shell's completions.
///
/// # Errors
/// When standard output can't be written to.
pub(super) fn completions(flags: &Completions) -> io::Result<bool> {
    let mut script = Vec::new();
    clap_complete::generate(
        flags.shell,
        &mut Arguments::command(),
        "helenus",
        &mut script,
    );
    io::stdout().lock().write_all(&script)?;
    Ok(true)
}

/// Writes one man page, or all.
///
/// # Errors
/// When there is no such subcommand, or it can't be written.
pub(super) fn man(flags: &Man) -> io::Result<bool> {
    let pages = pages();
    if let Some(folder) = &flags.out {
        for (name, page) in pages {
            fs::write(folder.join(format!("{name}.1")), page)?;
        }
        return Ok(true);
    }
    let wanted = match &flags.subcommand {
        Some(subcommand) => format!("helenus-{subcommand}"),
        None => "helenus".to_owned(),
    };
    let found = pages.iter().find(|(name, _)| *name == wanted);
    let (_, page) = found.ok_or_else(|| {
        let known: Vec<_> = pages
            .iter()
            .filter_map(|(name, _)| name.strip_prefix("helenus-"))
            .collect();
        io::Error::other(format!(
            "there is no subcommand {:?}; there are {}",
            flags.subcommand.as_deref().unwrap_or_default(),
            known.join(", ")
        ))
    })?;
    io::stdout().lock().write_all(page)?;
    Ok(true)
}

/// The names and pages of the command and its subcommands.
fn pages() -> Vec<(String, Vec<u8>)> {
    let mut command = Arguments::command();
    // Names the subcommands as they are called, and gives them what all have.
    command.build();
    let subcommands = command
        .get_subcommands()
        .filter(|subcommand| subcommand.get_name() != "help")
        .map(|subcommand| {
            let name = format!("helenus-{}", subcommand.get_name());
            (name.clone(), page(subcommand.clone().display_name(name)))
        });
    let mut pages = vec![("helenus".to_owned(), page(command.clone()))];
    pages.extend(subcommands);
    pages
}

fn page(command: clap::Command) -> Vec<u8> {
    let mut out = Vec::new();
    Page::new(command)
        .source(concat!("helenus ", env!("CARGO_PKG_VERSION")))
        .render(&mut out)
        .expect("a Vec takes all that is written");
    out
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    /// Every flag: its subcommand and its name.
    fn flags() -> Vec<(String, String)> {
        let mut command = Arguments::command();
        command.build();
        let mut found = Vec::new();
        for subcommand in command.get_subcommands() {
            let names = subcommand
                .get_arguments()
                .filter_map(|flag| flag.get_long());
            found.extend(names.map(|name| (subcommand.get_name().to_owned(), name.to_owned())));
        }
        assert!(found.contains(&("serve".to_owned(), "listen".to_owned())));
        found
    }

    #[test]
    fn the_completions_of_every_shell_know_every_flag() {
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "helenus", &mut script);
            let script = String::from_utf8(script).unwrap();
            for (subcommand, flag) in flags() {
                // fish names long flags by -l.
                let is_known = [format!("--{flag}"), format!("-l {flag}")]
                    .iter()
                    .any(|text| script.contains(text));
                assert!(is_known, "{shell}: {subcommand} --{flag}");
            }
        }
    }

    #[test]
    fn the_man_page_of_each_subcommand_names_its_flags_and_variables() {
        let pages = pages();
        for (subcommand, flag) in flags() {
            if subcommand == "help" {
                continue;
            }
            let name = format!("helenus-{subcommand}");
            let (_, page) = pages.iter().find(|(page, _)| *page == name).unwrap();
            let page = String::from_utf8(page.clone()).unwrap();
            // Roff writes a hyphen as \-.
            let roff = format!("\\-\\-{}", flag.replace('-', "\\-"));
            assert!(page.contains(&roff), "{name}: --{flag}");
        }
        let (_, serve) = pages
            .iter()
            .find(|(name, _)| name == "helenus-serve")
            .unwrap();
        assert!(String::from_utf8_lossy(serve).contains("HELENUS_LISTEN"));
    }

    #[test]
    fn the_overview_names_every_subcommand() {
        let (_, overview) = &pages()[0];
        let overview = String::from_utf8_lossy(overview);
        for subcommand in [
            "serve",
            "conformance",
            "inspect",
            "ping",
            "completions",
            "man",
        ] {
            assert!(
                overview.contains(&format!("helenus\\-{subcommand}(1)")),
                "{subcommand}"
            );
        }
    }
}
