//! Rules of the sources of settings.

use std::path::Path;
use std::time::Duration;

use helenus::Runtime;

use super::units::Size;
use super::*;

fn parse(text: &str) -> Result<Config, String> {
    let mut config = Config::default();
    toml_file::parse(Path::new("helenus.toml"), text)
        .and_then(|assignments| {
            assignments
                .into_iter()
                .try_for_each(|assignment| config.assign(assignment))
        })
        .map(|()| config)
        .map_err(|error| error.to_string())
}

fn resolve(set: &[&str]) -> Result<Config, String> {
    let flags = Serve {
        set: set.iter().map(ToString::to_string).collect(),
        ..Serve::default()
    };
    Config::resolve(&flags).map_err(|error| error.to_string())
}

#[test]
fn keys_are_taken_with_and_without_a_table() {
    let config = parse(
        "# some of them\nlisten = \"127.0.0.2:9142\"\nruntime = \"async-std\"\nworkers = 3\nlog = \"debug\"\n\
        [limits]\nmax_envelope = \"1MiB\"\nidle_timeout = \"3s\"\nhandshake_timeout = \"off\"\n",
    )
    .unwrap();
    assert_eq!(config.general.listen, "127.0.0.2:9142".parse().unwrap());
    assert_eq!(config.general.runtime, Runtime::AsyncStd);
    assert_eq!(config.general.workers.count().get(), 3);
    assert_eq!(config.general.log, LogLevel::DEBUG);
    assert_eq!(config.limits.max_envelope, Size::mebibytes(1));
    assert_eq!(config.limits.idle_timeout, Some(Duration::from_secs(3)));
    assert_eq!(config.limits.handshake_timeout, None);
}

#[test]
fn the_reference_is_a_file_of_the_defaults() {
    assert_eq!(parse(&Config::reference()), Ok(Config::default()));
}

#[test]
fn the_reference_says_what_takes_a_restart() {
    let reference = Config::reference();
    for row in Config::default().rows() {
        let line = format!("\n{} = ", row.key);
        let above = |text: &str| text.lines().last().unwrap_or_default().to_owned();
        let said = reference.split(&line).map(above);
        let documented: Vec<_> = said.filter(|doc| doc.contains(row.doc)).collect();
        let takes_a_restart = row.reload == Reload::Restart;
        assert_eq!(documented.len(), 1, "{}", row.name());
        assert_eq!(documented[0].ends_with("Takes a restart."), takes_a_restart);
    }
    assert!(reference.contains("to begin or end that takes a restart.\ncert = "));
}

#[test]
fn every_key_is_documented_in_a_sentence() {
    for row in Config::default().rows() {
        assert!(row.doc.ends_with('.') && row.doc.len() > 10, "{}", row.key);
    }
}

#[test]
fn an_unknown_key_is_refused_with_its_line_and_the_nearest_right_one() {
    for (text, at, key, nearest) in [
        (
            "log = \"info\"\nruntme = \"tokio\"\n",
            2,
            "runtme",
            "runtime",
        ),
        (
            "[limits]\n\nidle_time = \"3s\"\n",
            3,
            "limits.idle_time",
            "limits.idle_timeout",
        ),
        (
            "[limit]\nidle_timeout = \"3s\"\n",
            2,
            "limit.idle_timeout",
            "limits.idle_timeout",
        ),
        (
            "idle_timeout = \"3s\"\n",
            1,
            "idle_timeout",
            "limits.idle_timeout",
        ),
    ] {
        assert_eq!(
            parse(text),
            Err(format!(
                "helenus.toml:{at}: unknown key {key:?}; did you mean {nearest:?}? \
                (`helenus serve --help-config` lists all)"
            ))
        );
    }
}

#[test]
fn a_wrong_value_is_refused_with_what_would_be_right() {
    for (text, message) in [
        (
            "workers = 0",
            "helenus.toml:1: workers: expected a whole number of workers, 1 or more, or \"cores\"",
        ),
        (
            "workers = \"2\"",
            "helenus.toml:1: workers: expected a whole number of workers, 1 or more, or \"cores\"",
        ),
        (
            "log = 3",
            "helenus.toml:1: log: expected a string in quotes, but this is of type integer",
        ),
        (
            "\nruntime = \"tokyo\"",
            "helenus.toml:2: runtime: \"tokyo\" is no runtime; expected tokio, smol, async-std or threads",
        ),
        (
            "listen = \"localhost\"",
            "helenus.toml:1: listen: \"localhost\" is no address and port; write it as 127.0.0.1:9042 or [::1]:9042",
        ),
        (
            "[limits]\nconnections = -1",
            "helenus.toml:2: limits.connections: expected a whole number, 1 or more",
        ),
        (
            "[limits]\nidle_timeout = 3",
            "helenus.toml:2: limits.idle_timeout: expected a duration with its unit, such as \"30s\", in us, ms, s, m, \
            h or d; or \"off\"",
        ),
        (
            "[limits]\nmax_envelope = \"1MB\"",
            "helenus.toml:2: limits.max_envelope: expected a size such as \"16MiB\", in B, KiB, MiB or GiB, or a number \
            of bytes",
        ),
    ] {
        assert_eq!(parse(text), Err(message.to_owned()), "{text}");
    }
}

#[test]
fn a_guardrail_that_can_mean_nothing_is_refused_with_the_reason() {
    assert_eq!(
        parse("[guardrails]\npartition_size_warn_threshold = \"1GiB\""),
        Err(
            "helenus.toml:2: guardrails.partition_size_warn_threshold: it is about the files of tables, and there are \
             none here: data is in memory only"
                .to_owned()
        )
    );
    let refused = resolve(&["guardrails.data_disk_usage_percentage_warn_threshold=70"]);
    assert!(
        refused
            .unwrap_err()
            .ends_with("nothing is kept on disks here")
    );
}

#[test]
fn what_is_no_toml_is_refused_with_its_line() {
    let error = parse("log = \"info\"\nworkers = = 2\n").unwrap_err();
    assert!(
        error.starts_with("helenus.toml:2: not valid TOML: "),
        "{error}"
    );
}

#[test]
fn set_reaches_every_key() {
    let config = resolve(&[
        "limits.idle_timeout=3s",
        "workers = 7",
        "limits.connections=9",
    ])
    .unwrap();
    assert_eq!(config.limits.idle_timeout, Some(Duration::from_secs(3)));
    assert_eq!(config.limits.connections.get(), 9);
    assert_eq!(config.general.workers.count().get(), 7);
    assert_eq!(
        resolve(&["limits.idle_timeout"]),
        Err("--set limits.idle_timeout: expected section.key=value".to_owned())
    );
    assert_eq!(
        resolve(&["limits.connections=many"]),
        Err(
            "--set limits.connections=many: limits.connections: expected a whole number, 1 or more"
                .to_owned()
        )
    );
}

#[test]
fn a_flag_wins_over_the_rest() {
    let flags = Serve {
        runtime: Some(Runtime::Threads),
        set: vec!["runtime=smol".to_owned(), "log=debug".to_owned()],
        ..Serve::default()
    };
    let config = Config::resolve(&flags).unwrap();
    assert_eq!(config.general.runtime, Runtime::Threads);
    assert_eq!(config.general.log, LogLevel::DEBUG);
}

#[test]
fn more_workers_than_any_machine_has_are_refused() {
    assert_eq!(
        resolve(&["workers=5000"]),
        Err("workers: 5000 is too many; the most is 1024".to_owned())
    );
}

#[test]
fn changes_name_the_keys_whose_values_differ() {
    let new = resolve(&["limits.idle_timeout=3s", "workers=7"]).unwrap();
    let changes: Vec<String> = Config::default()
        .changes(&new)
        .iter()
        .map(|row| format!("{} = {}", row.name(), row.value))
        .collect();
    assert_eq!(changes, ["workers = 7", "limits.idle_timeout = \"3s\""]);
}
