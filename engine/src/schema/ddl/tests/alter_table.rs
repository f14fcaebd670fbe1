use super::World;

fn world() -> World {
    let mut world = World::new();
    world.ok("CREATE TYPE w (a int, b text)");
    world.ok("CREATE TYPE nw (a int, b list<int>)");
    world.ok("CREATE TABLE t (a int, b int, c int, s int STATIC, d list<int>, PRIMARY KEY (a, b))");
    world.ok("CREATE TABLE p (a int PRIMARY KEY, b int)");
    world.ok("CREATE TABLE k (a int PRIMARY KEY, b counter)");
    world
}

#[test]
fn columns_are_added_once_and_fit_the_table() {
    let mut world = world();
    world.invalid(
        "ALTER TABLE t ADD c int",
        "Column with name 'c' already exists",
    );
    world.invalid(
        "ALTER TABLE t ADD a int",
        "Column with name 'a' already exists",
    );
    world.unchanged("ALTER TABLE t ADD IF NOT EXISTS c text");
    world.invalid(
        "ALTER TABLE t ADD (h int, h text)",
        "Column with name 'h' already exists",
    );
    world.configuration(
        "ALTER TABLE t ADD h counter",
        "ks.t: Cannot have a counter column (\"h\") in a non counter table",
    );
    world.configuration(
        "ALTER TABLE k ADD h int",
        "ks.k: Cannot have a non counter column (\"h\") in a counter table",
    );
    world.invalid(
        "ALTER TABLE p ADD h int STATIC",
        "Static columns are only useful (and thus allowed) if the table has at least one clustering column",
    );
    world.invalid("ALTER TABLE t ADD i nope", "Unknown type ks.nope");
    world.invalid(
        "ALTER TABLE t ADD j nw",
        "Non-frozen UDTs with nested non-frozen collections are not supported for column j",
    );
    world.ok("ALTER TABLE t ADD (f int, h int STATIC)");
    world.ok("ALTER TABLE k ADD h counter");
    assert_eq!(
        world.columns("t"),
        [
            "a int",
            "b int",
            "h int",
            "s int",
            "c int",
            "d list<int>",
            "f int"
        ]
    );
}

#[test]
fn only_values_are_dropped() {
    let mut world = world();
    world.ok("ALTER TABLE t ADD i w");
    world.invalid(
        "ALTER TABLE t DROP zz",
        "Column zz was not found in table 'ks.t'",
    );
    world.unchanged("ALTER TABLE t DROP IF EXISTS zz");
    world.invalid("ALTER TABLE t DROP a", "Cannot drop PRIMARY KEY column a");
    world.invalid("ALTER TABLE t DROP b", "Cannot drop PRIMARY KEY column b");
    world.invalid(
        "ALTER TABLE t DROP i",
        "Cannot drop non-frozen column i of user type w",
    );
    world.invalid(
        "ALTER TABLE t DROP (c, zz)",
        "Column zz was not found in table 'ks.t'",
    );
    world.ok("ALTER TABLE t DROP (c, c)");
    world.ok("ALTER TABLE t DROP IF EXISTS (d, zz)");
    assert_eq!(world.columns("t"), ["a int", "b int", "s int", "i w"]);
}

#[test]
fn drops_are_kept_with_their_time_and_an_expanded_type() {
    let mut world = world();
    world.ok("ALTER TABLE t ADD j frozen<nw>");
    world.ok("ALTER TABLE t DROP j USING TIMESTAMP 123456");
    world.ok("ALTER TABLE t DROP s");
    let at = world.clock;
    let dropped: Vec<String> = world
        .schema
        .table("ks", "t")
        .unwrap()
        .dropped
        .iter()
        .map(|column| {
            format!(
                "{} {} {} {}",
                column.name, column.ty, column.dropped_at, column.is_static
            )
        })
        .collect();
    let expected = [
        "j frozen<tuple<int, frozen<list<int>>>> 123456 false".to_owned(),
        format!("s int {at} true"),
    ];
    assert_eq!(dropped, expected);
}

#[test]
fn a_dropped_column_comes_back_with_what_its_bytes_can_be() {
    let mut world = world();
    world.ok(
        "CREATE TABLE r (a int, b int, c int, d text, e frozen<nw>, f ascii, g timestamp, h bigint, i uuid, \
         j timeuuid, k list<text>, l blob, m date, n time, o frozen<list<int>>, p varint, q tuple<int, int>, \
         s frozen<w>, PRIMARY KEY (a, b))",
    );
    world.ok("ALTER TABLE r DROP (c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, s)");
    for (column, new, old) in [
        ("e", "frozen<nw>", "frozen<tuple<int, frozen<list<int>>>>"),
        ("c", "bigint", "int"),
        ("c", "varint", "int"),
        ("i", "timeuuid", "uuid"),
        ("l", "text", "blob"),
        ("m", "int", "date"),
        ("c", "date", "int"),
        ("n", "bigint", "time"),
        ("p", "bigint", "varint"),
        ("p", "int", "varint"),
        ("c", "blob", "int"),
        ("s", "frozen<w>", "frozen<tuple<int, text>>"),
        ("k", "set<text>", "list<text>"),
        ("k", "frozen<list<text>>", "list<text>"),
    ] {
        world.invalid(
            &format!("ALTER TABLE r ADD {column} {new}"),
            &format!(
                "Cannot re-add previously dropped column '{column}' of type {new}, incompatible with previous type {old}"
            ),
        );
    }
    for again in [
        "c int",
        "d blob",
        "f text",
        "g bigint",
        "h timestamp",
        "j uuid",
        "k list<blob>",
        "o blob",
        "q tuple<int, int, int>",
        "s tuple<int, text>",
    ] {
        world.ok(&format!("ALTER TABLE r ADD {again}"));
    }
}

#[test]
fn a_dropped_column_comes_back_as_another_column() {
    let mut world = world();
    let before = world
        .schema
        .table("ks", "t")
        .unwrap()
        .column("c")
        .unwrap()
        .id;
    world.ok("ALTER TABLE t DROP c");
    world.ok("ALTER TABLE t ADD c int");
    let after = world
        .schema
        .table("ks", "t")
        .unwrap()
        .column("c")
        .unwrap()
        .id;
    assert!(after > before);
}

#[test]
fn a_dropped_column_keeps_its_kind_and_counters_stay_away() {
    let mut world = world();
    world.ok("ALTER TABLE t DROP (c, s)");
    world.invalid(
        "ALTER TABLE t ADD c int STATIC",
        "Cannot re-add previously dropped column 'c' of kind STATIC, incompatible with previous kind REGULAR",
    );
    world.invalid(
        "ALTER TABLE t ADD s int",
        "Cannot re-add previously dropped column 's' of kind REGULAR, incompatible with previous kind STATIC",
    );
    world.ok("ALTER TABLE t ADD s int STATIC");
    world.ok("ALTER TABLE k ADD h counter");
    world.ok("ALTER TABLE k DROP h");
    world.invalid(
        "ALTER TABLE k ADD h counter",
        "Cannot re-add previously dropped counter column h",
    );
}

#[test]
fn only_keys_are_renamed_to_free_names() {
    let mut world = world();
    world.ok("ALTER TABLE t RENAME a TO aa");
    world.invalid(
        "ALTER TABLE t RENAME aa TO bb AND b TO aa",
        "Cannot rename column b to aa in table 'ks.t'; another column with that name already exists",
    );
    world.invalid(
        "ALTER TABLE t RENAME zz TO yy",
        "Undefined column name zz in table ks.t",
    );
    world.invalid(
        "ALTER TABLE t RENAME IF EXISTS zz TO yy",
        "Undefined column name zz in table ks.t",
    );
    world.invalid(
        "ALTER TABLE t RENAME d TO dd",
        "Cannot rename non PRIMARY KEY column d",
    );
    world.invalid(
        "ALTER TABLE t RENAME aa TO d",
        "Cannot rename column aa to d in table 'ks.t'; another column with that name already exists",
    );
    let id = world
        .schema
        .table("ks", "t")
        .unwrap()
        .column("aa")
        .unwrap()
        .id;
    world.ok("ALTER TABLE t DROP c");
    world.ok("ALTER TABLE t RENAME aa TO c");
    assert_eq!(
        world
            .schema
            .table("ks", "t")
            .unwrap()
            .column("c")
            .unwrap()
            .id,
        id
    );
}

#[test]
fn column_types_stay() {
    let mut world = world();
    world.invalid(
        "ALTER TABLE t ALTER c TYPE text",
        "Altering column types is no longer supported",
    );
    world.invalid(
        "ALTER TABLE nope ALTER zz TYPE text",
        "Table 'ks.nope' doesn't exist",
    );
    world.invalid(
        "ALTER TABLE nope ADD a int",
        "Table 'ks.nope' doesn't exist",
    );
    world.unchanged("ALTER TABLE IF EXISTS nope ADD a int");
}

#[test]
fn options_are_altered_but_the_id() {
    let mut world = world();
    world.syntax("ALTER TABLE t WITH foo = 'x'", "Unknown property 'foo'");
    world.configuration(
        "ALTER TABLE t WITH id = 5a1c395e-b41f-11e5-9f22-ba0be0483c18",
        "Cannot alter table id.",
    );
    world.invalid(
        "ALTER TABLE k WITH default_time_to_live = 10",
        "Cannot set default_time_to_live on a table with counters",
    );
    world.ok(
        "ALTER TABLE t WITH gc_grace_seconds = 5 AND default_time_to_live = 7 AND comment = 'x'",
    );
    world.unchanged("ALTER TABLE t WITH gc_grace_seconds = 5");
    let table = world.schema.table("ks", "t").unwrap();
    assert_eq!(
        (
            table.gc_grace_seconds,
            table.default_ttl,
            &*table.options.comment
        ),
        (5, 7, "x")
    );
}
