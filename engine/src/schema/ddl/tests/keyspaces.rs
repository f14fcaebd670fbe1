use helenus_core::ErrorCode;
use helenus_core::message::ErrorDetail;

use super::World;

fn replication(world: &World, keyspace: &str) -> Vec<String> {
    let keyspace = &world.schema.keyspaces[keyspace];
    let class = |text: &str| text.replace("org.apache.cassandra.locator.", "");
    keyspace
        .replication
        .options()
        .iter()
        .map(|(key, value)| format!("{key}={}", class(value)))
        .collect()
}

fn create(options: &str) -> String {
    format!("CREATE KEYSPACE a WITH replication = {options}")
}

fn alter(options: &str) -> String {
    format!("ALTER KEYSPACE a WITH replication = {options}")
}

#[test]
fn replication_is_mandatory_and_has_a_class() {
    let mut world = World::new();
    world.invalid(
        "CREATE KEYSPACE a WITH durable_writes = true",
        "Missing mandatory option 'replication'",
    );
    world.configuration(
        &create("{'replication_factor': 1}"),
        "Missing replication strategy class",
    );
    world.configuration(
        &create("{'class': 'FooStrategy', 'replication_factor': 1}"),
        "Unable to find replication strategy class 'org.apache.cassandra.locator.FooStrategy'",
    );
    world.configuration(
        &create("{'class': 'a.b.C'}"),
        "Unable to find replication strategy class 'a.b.C'",
    );
    world.configuration(
        &create("{'class': 'OldNetworkTopologyStrategy'}"),
        "The support for the OldNetworkTopologyStrategy has been removed in C* version 4.0. The keyspace strategy \
         should be switch to NetworkTopologyStrategy",
    );
    for class in [
        "LocalStrategy",
        "org.apache.cassandra.locator.LocalStrategy",
    ] {
        world.invalid(
            &create(&format!("{{'class': '{class}'}}")),
            "Unable to use given strategy class: LocalStrategy is reserved for internal use.",
        );
    }
}

#[test]
fn simple_strategy_takes_a_factor_and_nothing_else() {
    let mut world = World::new();
    for (factor, message) in [
        ("'x'", "For input string: \"x\""),
        ("''", "For input string: \"\""),
        ("'1.5'", "For input string: \"1.5\""),
        ("' 1'", "For input string: \" 1\""),
        ("99999999999", "For input string: \"99999999999\""),
        ("-1", "Replication factor must be non-negative, found -1"),
        ("'3/1'", "Transient replication is not enabled on this node"),
        (
            "'1/2/3'",
            "Replication factor format is <replicas> or <replicas>/<transient>",
        ),
    ] {
        world.configuration(
            &create(&format!(
                "{{'class': 'SimpleStrategy', 'replication_factor': {factor}}}"
            )),
            message,
        );
    }
    world.configuration(
        &create("{'class': 'SimpleStrategy', 'replication_factor': 1, 'foo': 2}"),
        "Unrecognized strategy option {foo} passed to SimpleStrategy for keyspace a",
    );
    world.ok(&create("{'class': 'SimpleStrategy'}"));
    assert_eq!(
        replication(&world, "a"),
        ["class=SimpleStrategy", "replication_factor=1"]
    );
}

#[test]
fn network_topology_knows_its_datacenters() {
    let mut world = World::new();
    for (options, message) in [
        (
            "'dc9': 1",
            "Unrecognized strategy option {dc9} passed to NetworkTopologyStrategy for keyspace a",
        ),
        ("'datacenter1': 'x'", "For input string: \"x\""),
        (
            "'datacenter1': -1",
            "Replication factor must be non-negative, found -1",
        ),
        (
            "'datacenter1': '2/1'",
            "Transient replication is not enabled on this node",
        ),
        (
            "'datacenter1': 0",
            "Configuration for at least one datacenter must be present",
        ),
        (
            "'replication_factor': 0",
            "Configuration for at least one datacenter must be present",
        ),
        (
            "'replication_factor': 'x'",
            "Configuration for at least one datacenter must be present",
        ),
    ] {
        world.configuration(
            &create(&format!(
                "{{'class': 'NetworkTopologyStrategy', {options}}}"
            )),
            message,
        );
    }
    world.ok(&create(
        "{'class': 'NetworkTopologyStrategy', 'dc8': 0, 'datacenter1': 1}",
    ));
    assert_eq!(
        replication(&world, "a"),
        ["class=NetworkTopologyStrategy", "datacenter1=1"]
    );
}

#[test]
fn a_replication_factor_is_expanded_to_datacenters_that_have_none() {
    let mut world = World::new();
    let update = world.ok(&create(
        "{'class': 'NetworkTopologyStrategy', 'replication_factor': 2}",
    ));
    let warning = "Your replication factor 2 for keyspace a is higher than the number of nodes 1 for datacenter \
                   datacenter1";
    assert_eq!(update.warnings, [warning]);
    assert_eq!(
        replication(&world, "a"),
        ["class=NetworkTopologyStrategy", "datacenter1=2"]
    );
    let update = world.unchanged(&alter(
        "{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}",
    ));
    assert_eq!(update.warnings, [warning]);
}

#[test]
fn a_factor_left_out_is_kept_or_the_default() {
    let mut world = World::new();
    world.ok(&create("{'class': 'NetworkTopologyStrategy'}"));
    assert_eq!(
        replication(&world, "a"),
        ["class=NetworkTopologyStrategy", "datacenter1=1"]
    );
    let update = world.ok(&alter(
        "{'class': 'SimpleStrategy', 'replication_factor': 5}",
    ));
    let higher = "Your replication factor 5 for keyspace a is higher than the number of nodes 1";
    let repair = "When increasing replication factor you need to run a full (-full) repair to distribute the data.";
    assert_eq!(update.warnings, [higher, repair]);
    assert_eq!(
        world
            .unchanged(&alter("{'class': 'SimpleStrategy'}"))
            .warnings,
        [higher]
    );
    world.ok(&alter("{'class': 'NetworkTopologyStrategy'}"));
    assert_eq!(
        replication(&world, "a"),
        ["class=NetworkTopologyStrategy", "datacenter1=5"]
    );
    world.ok(&alter("{'class': 'SimpleStrategy'}"));
    assert_eq!(
        replication(&world, "a"),
        ["class=SimpleStrategy", "replication_factor=1"]
    );
}

#[test]
fn properties_are_known_and_of_their_kind() {
    let mut world = World::new();
    world.ok(&create(
        "{'class': 'SimpleStrategy', 'replication_factor': 1}",
    ));
    world.syntax("ALTER KEYSPACE a WITH foo = 1", "Unknown property 'foo'");
    world.syntax(
        "ALTER KEYSPACE a WITH durable_writes = 'nope'",
        "Invalid boolean value nope for 'durable_writes'. Positive values can be '1', 'true' or 'yes'. Negative \
         values can be '0', 'false' or 'no'.",
    );
    world.syntax(
        "ALTER KEYSPACE a WITH durable_writes = {'a': 'b'}",
        "Invalid value for property 'durable_writes'. It should be a string",
    );
    world.syntax(
        "ALTER KEYSPACE a WITH replication = 'x'",
        "Invalid value for property 'replication'. It should be a map.",
    );
    world.unchanged("ALTER KEYSPACE a WITH replication = {}");
    world.unchanged("ALTER KEYSPACE a WITH durable_writes = 'YES'");
    world.ok("ALTER KEYSPACE a WITH durable_writes = 0");
    assert!(!world.schema.keyspaces["a"].durable_writes);
}

#[test]
fn existence_is_checked_unless_told_otherwise() {
    let mut world = World::new();
    let error = world
        .run("CREATE KEYSPACE ks WITH replication = {'class': 'Nope'}")
        .unwrap_err();
    assert_eq!(
        (error.code, &*error.message),
        (
            ErrorCode::ALREADY_EXISTS,
            "Cannot add existing keyspace \"ks\""
        )
    );
    assert!(matches!(error.detail, ErrorDetail::AlreadyExists { .. }));
    world.unchanged("CREATE KEYSPACE IF NOT EXISTS ks WITH replication = {'class': 'Nope'}");
    world.invalid(
        "ALTER KEYSPACE nope WITH durable_writes = false",
        "Keyspace 'nope' doesn't exist",
    );
    world.unchanged("ALTER KEYSPACE IF EXISTS nope WITH durable_writes = false");
    world.invalid("DROP KEYSPACE nope", "Keyspace 'nope' doesn't exist");
    world.unchanged("DROP KEYSPACE IF EXISTS nope");
}

#[test]
fn names_are_words_of_48_letters_at_most() {
    let mut world = World::new();
    for name in ["sch-b", &"x".repeat(49)] {
        let message = format!(
            "Keyspace name must not be empty, more than 48 characters long, or contain non-alphanumeric-underscore \
             characters (got '{name}')"
        );
        world.invalid(
            &format!("CREATE KEYSPACE \"{name}\" WITH replication = {{'class': 'SimpleStrategy'}}"),
            &message,
        );
        world.invalid(&format!("DROP KEYSPACE IF EXISTS \"{name}\""), &message);
    }
    let name = "x".repeat(48);
    world.ok(&format!(
        "CREATE KEYSPACE {name} WITH replication = {{'class': 'SimpleStrategy'}}"
    ));
}

#[test]
fn system_keyspaces_are_not_to_be_changed() {
    let mut world = World::new();
    let code = ErrorCode::UNAUTHORIZED;
    for keyspace in [
        "system",
        "system_schema",
        "system_views",
        "system_virtual_schema",
    ] {
        let message = format!("{keyspace} keyspace is not user-modifiable.");
        for statement in [
            "DROP KEYSPACE {}",
            "ALTER KEYSPACE {} WITH durable_writes = true",
            "CREATE TABLE {}.foo (a int PRIMARY KEY)",
            "ALTER TABLE {}.local ADD a int",
            "DROP TABLE IF EXISTS {}.nope",
            "CREATE TYPE {}.foo (a int)",
            "ALTER TYPE {}.foo ADD a int",
            "DROP TYPE {}.foo",
        ] {
            world.refused(&statement.replace("{}", keyspace), code, &message);
        }
        world.invalid(
            &format!("CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'SimpleStrategy'}}"),
            &format!("System keyspace '{keyspace}' is not user-modifiable"),
        );
    }
    for (statement, message) in [
        (
            "DROP KEYSPACE system_auth",
            "Cannot DROP <keyspace system_auth>",
        ),
        (
            "CREATE TABLE system_traces.foo (a int PRIMARY KEY)",
            "Cannot CREATE <all tables in system_traces>",
        ),
        (
            "ALTER TABLE system_traces.events ADD a int",
            "Cannot ALTER <table system_traces.events>",
        ),
        (
            "DROP TABLE system_traces.events",
            "Cannot DROP <table system_traces.events>",
        ),
        (
            "CREATE TYPE system_traces.foo (a int)",
            "Cannot CREATE <all tables in system_traces>",
        ),
        (
            "DROP TYPE system_traces.foo",
            "Cannot DROP <all tables in system_traces>",
        ),
    ] {
        world.refused(statement, code, message);
    }
}

#[test]
fn replicated_system_keyspaces_may_be_replicated_otherwise() {
    let mut world = World::new();
    let update = world.unchanged("ALTER KEYSPACE system_traces WITH durable_writes = true");
    assert_eq!(update.warnings, [""; 0]);
    world.ok("ALTER KEYSPACE system_traces WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}");
    assert_eq!(
        replication(&world, "system_traces"),
        ["class=NetworkTopologyStrategy", "datacenter1=1"]
    );
}
