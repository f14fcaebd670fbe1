use super::World;

fn fields(world: &World, name: &str) -> Vec<String> {
    let ty = &world.schema.keyspaces["ks"].types[name];
    ty.fields
        .iter()
        .map(|(name, field)| format!("{name} {field}"))
        .collect()
}

#[test]
fn fields_are_distinct_and_of_types_that_fit() {
    let mut world = World::new();
    world.ok("CREATE TYPE u (a int, b list<int>)");
    world.invalid(
        "CREATE TYPE u (a int)",
        "A user type with name 'u' already exists",
    );
    world.unchanged("CREATE TYPE IF NOT EXISTS u (a int)");
    for (statement, message) in [
        (
            "CREATE TYPE v (a u)",
            "A user type cannot contain non-frozen UDTs",
        ),
        (
            "CREATE TYPE v (a int, b nope)",
            "A user type cannot contain non-frozen UDTs",
        ),
        (
            "CREATE TYPE v (a frozen<u>, a int)",
            "Duplicate field name 'a' in type 'v'",
        ),
        (
            "CREATE TYPE v (a counter)",
            "A user type cannot contain counters",
        ),
        (
            "CREATE TYPE v (a list<counter>)",
            "Counters are not allowed inside collections: list<counter>",
        ),
        (
            "CREATE TYPE v (a list<list<int>>)",
            "Non-frozen collections are not allowed inside collections: list<list<int>>",
        ),
        (
            "CREATE TYPE v (a list<u>)",
            "Non-frozen UDTs are not allowed inside collections: list<u>",
        ),
        ("CREATE TYPE v (a frozen<v>)", "Unknown type ks.v"),
        (
            "CREATE TYPE v (a vector<int, 0>)",
            "vectors may only have positive dimensions; given 0",
        ),
        (
            "CREATE TYPE nope.v (a int)",
            "Keyspace 'nope' doesn't exist",
        ),
    ] {
        world.invalid(statement, message);
    }
    world.ok("CREATE TYPE v (a frozen<u>, b list<frozen<u>>, c duration, d tuple<int, u>, e vector<u, 2>)");
    assert_eq!(
        fields(&world, "v"),
        [
            "a frozen<u>",
            "b list<frozen<u>>",
            "c duration",
            "d frozen<tuple<int, frozen<u>>>",
            "e vector<u, 2>"
        ]
    );
}

#[test]
fn fields_are_added_without_circles() {
    let mut world = World::new();
    world.ok("CREATE TYPE u (a int)");
    world.ok("CREATE TYPE v (a frozen<u>)");
    world.ok("CREATE TYPE \"Q r\" (a int)");
    world.ok("ALTER TYPE u ADD c int");
    world.invalid(
        "ALTER TYPE u ADD c int",
        "Cannot add field c to type ks.u: a field with name c already exists",
    );
    world.unchanged("ALTER TYPE u ADD IF NOT EXISTS c text");
    world.invalid(
        "ALTER TYPE u ADD d v",
        "A user type cannot contain non-frozen UDTs",
    );
    world.invalid(
        "ALTER TYPE u ADD d counter",
        "A user type cannot contain counters",
    );
    for (field, shown) in [("frozen<u>", "u"), ("frozen<v>", "v")] {
        world.invalid(
            &format!("ALTER TYPE u ADD d {field}"),
            &format!(
                "Cannot add new field d of type frozen<ks.{shown}> to user type ks.u as it would create a circular \
                 reference"
            ),
        );
    }
    world.invalid(
        "ALTER TYPE \"Q r\" ADD a int",
        "Cannot add field a to type ks.\"Q r\": a field with name a already exists",
    );
    world.invalid("ALTER TYPE nope ADD zz int", "Type ks.nope doesn't exist");
    world.unchanged("ALTER TYPE IF EXISTS nope ADD zz int");
}

#[test]
fn fields_are_renamed_at_once() {
    let mut world = World::new();
    world.ok("CREATE TYPE w (a int, b text)");
    world.invalid(
        "ALTER TYPE w RENAME zz TO a",
        "Unkown field zz in user type ks.w",
    );
    world.unchanged("ALTER TYPE w RENAME IF EXISTS zz TO a");
    world.invalid(
        "ALTER TYPE w RENAME a TO b",
        "Duplicate field name b in type ks",
    );
    world.invalid(
        "ALTER TYPE w RENAME a TO x AND x TO y",
        "Unkown field x in user type ks.w",
    );
    world.ok("ALTER TYPE w RENAME a TO b AND b TO a");
    assert_eq!(fields(&world, "w"), ["b int", "a text"]);
    world.invalid(
        "ALTER TYPE w ALTER a TYPE text",
        "Altering field types is no longer supported",
    );
}

#[test]
fn types_in_use_stay() {
    let mut world = World::new();
    world.ok("CREATE TYPE u (a int)");
    world.ok("CREATE TYPE v (a frozen<u>)");
    world.ok("CREATE TYPE x (a list<frozen<u>>)");
    world.ok("CREATE TABLE t (a int PRIMARY KEY, b list<frozen<v>>)");
    world.invalid(
        "DROP TYPE u",
        "Cannot drop user type 'ks.u' as it is still used by user types v, x",
    );
    world.invalid(
        "DROP TYPE v",
        "Cannot drop user type 'ks.v' as it is still used by tables t",
    );
    world.invalid("DROP TYPE nope", "Type 'ks.nope' doesn't exist");
    world.unchanged("DROP TYPE IF EXISTS nope");
    world.ok("DROP TABLE t");
    world.ok("DROP TYPE x");
    world.ok("DROP TYPE v");
    world.ok("DROP TYPE u");
}

#[test]
fn an_altered_type_reaches_all_that_use_it() {
    let mut world = World::new();
    world.ok("CREATE TYPE w (a int)");
    world.ok("CREATE TYPE a (x frozen<w>)");
    world.ok("CREATE TYPE z (y list<frozen<a>>, w frozen<w>)");
    world.ok("CREATE TABLE t (k int PRIMARY KEY, v map<int, frozen<z>>, o w)");
    world.ok("CREATE TABLE other (k int PRIMARY KEY)");
    let other = world.schema.table("ks", "other").unwrap().clone();
    world.ok("ALTER TYPE w ADD b text");
    let keyspace = &world.schema.keyspaces["ks"];
    let expected = format!("{:?}", keyspace.types["w"]);
    assert_eq!(fields(&world, "w"), ["a int", "b text"]);
    for ty in ["a", "z"] {
        assert!(
            format!("{:?}", keyspace.types[ty]).contains(&expected),
            "{ty}"
        );
    }
    let column = keyspace.tables["t"].column("v").unwrap();
    assert_eq!(format!("{:?}", column.ty).matches(&expected).count(), 2);
    assert!(format!("{:?}", keyspace.tables["t"].column("o").unwrap().ty).contains(&expected));
    assert!(std::sync::Arc::ptr_eq(&other, &keyspace.tables["other"]));
}

#[test]
fn types_stay_small_enough_to_walk() {
    let mut world = World::new();
    let message = "Types may nest 64 levels deep and have 4096 parts at most";
    world.ok("CREATE TYPE t0 (a int)");
    for n in 1..=8 {
        world.ok(&format!(
            "CREATE TYPE t{n} (a frozen<t{}>, b frozen<t{}>)",
            n - 1,
            n - 1
        ));
    }
    world.ok("CREATE TYPE w9 (a frozen<t8>, b frozen<t8>, c frozen<t8>)");
    world.invalid("CREATE TYPE w10 (a frozen<w9>, b frozen<w9>)", message);
    world.invalid(
        "CREATE TABLE t (a int PRIMARY KEY, b tuple<w9, w9>)",
        message,
    );
    world.invalid("ALTER TYPE t0 ADD b text", message);

    world.ok("CREATE TYPE d0 (a int)");
    for n in 1..=30 {
        world.ok(&format!("CREATE TYPE d{n} (a frozen<d{}>)", n - 1));
    }
    world.invalid("CREATE TYPE d32 (a list<frozen<d30>>)", message);
}
