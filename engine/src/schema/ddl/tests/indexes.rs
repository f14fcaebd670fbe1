//! `CREATE INDEX` and `DROP INDEX`. What Apache Cassandra 5.0.4 answers.

use helenus_core::ErrorCode;

use crate::schema::testing::World;

#[test]
fn indexes_of_the_first_kind_are_on_one_column_and_no_two_alike() {
    let mut world = World::new();
    world.ok("CREATE TYPE u (a int, b text)");
    world.ok("CREATE TABLE t (k int, c int, s int static, v text, n int, l list<int>, st set<int>, m map<text,int>, fl frozen<list<int>>, fm frozen<map<text,int>>, e vector<float,2>, d duration, b boolean, bl blob, dc decimal, u1 u, fu frozen<u>, tp tuple<int,text>, ts timestamp, ip inet, vi varint, uu uuid, \"Q x\" int, PRIMARY KEY (k, c))");
    world.ok("CREATE TABLE k1 (k int PRIMARY KEY, v text, n int)");
    world.ok("CREATE TABLE k2 (a int, b int, c int, d int, v text, PRIMARY KEY ((a, b), c, d))");
    world.ok("CREATE TABLE cnt (k int PRIMARY KEY, c counter)");
    world.ok("CREATE INDEX ON t (v)");
    world.invalid(
        "CREATE INDEX ON t (v)",
        "Index t_v_idx_1 is a duplicate of existing index t_v_idx",
    );
    world.invalid(
        "CREATE INDEX x2 ON t (v)",
        "Index x2 is a duplicate of existing index t_v_idx",
    );
    world.unchanged("CREATE INDEX IF NOT EXISTS x2 ON t (v)");
    world.unchanged("CREATE INDEX IF NOT EXISTS ON t (v)");
    world.invalid(
        "CREATE INDEX t_v_idx ON k1 (v)",
        "Index 't_v_idx' already exists",
    );
    world.unchanged("CREATE INDEX IF NOT EXISTS t_v_idx ON k1 (v)");
    world.invalid(
        "CREATE INDEX ON t (nope)",
        "Undefined column name nope in table ks.t",
    );
    world.invalid("CREATE INDEX ON nope (v)", "Table 'nope' doesn't exist");
    world.invalid(
        "CREATE INDEX ON nope.nope (v)",
        "Keyspace 'nope' doesn't exist",
    );
    world.invalid(
        "CREATE INDEX ON k1 (k)",
        "Cannot create secondary index on the only partition key column k",
    );
    world.invalid(
        "CREATE INDEX ON k1 (n, v)",
        "Only CUSTOM indexes support multiple columns",
    );
    world.invalid(
        "CREATE INDEX ON k1 ()",
        "Only CUSTOM indexes can be created without specifying a target column",
    );
    world.invalid(
        "CREATE INDEX ON k1 (values(n))",
        "Cannot create values() index on n. Non-collection columns only support simple indexes",
    );
    world.invalid(
        "CREATE INDEX ON k1 (keys(n))",
        "Cannot create keys() index on n. Non-collection columns only support simple indexes",
    );
    world.invalid(
        "CREATE INDEX ON k1 (entries(n))",
        "Cannot create entries() index on n. Non-collection columns only support simple indexes",
    );
    world.invalid(
        "CREATE INDEX ON k1 (full(n))",
        "full() indexes can only be created on frozen collections",
    );
    world.invalid(
        "CREATE INDEX ON t (k)",
        "Cannot create secondary index on the only partition key column k",
    );
    world.ok("CREATE INDEX ON t (c)");
    world.ok("CREATE INDEX ON t (s)");
    world.invalid(
        "CREATE INDEX ON t (keys(l))",
        "Cannot create index on keys of column l with non-map type",
    );
    world.invalid(
        "CREATE INDEX ON t (entries(l))",
        "Cannot create index on entries of column l with non-map type",
    );
    world.invalid(
        "CREATE INDEX ON t (full(l))",
        "full() indexes can only be created on frozen collections",
    );
    world.ok("CREATE INDEX ON t (l)");
    world.invalid(
        "CREATE INDEX ON t (keys(st))",
        "Cannot create index on keys of column st with non-map type",
    );
    world.ok("CREATE INDEX ON t (values(st))");
    world.invalid(
        "CREATE INDEX ON t (entries(st))",
        "Cannot create index on entries of column st with non-map type",
    );
    world.ok("CREATE INDEX ON t (keys(m))");
    world.ok("CREATE INDEX ON t (values(m))");
    world.invalid(
        "CREATE INDEX ON t (m)",
        "Index t_m_idx_2 is a duplicate of existing index t_m_idx_1",
    );
    world.ok("CREATE INDEX ON t (entries(m))");
    world.invalid(
        "CREATE INDEX ON t (full(m))",
        "full() indexes can only be created on frozen collections",
    );
    world.invalid("CREATE INDEX ON t (fl)", "Cannot create values() index on frozen column fl. Frozen collections are immutable and must be fully indexed by using the 'full(fl)' modifier");
    world.invalid("CREATE INDEX ON t (values(fl))", "Cannot create values() index on frozen column fl. Frozen collections are immutable and must be fully indexed by using the 'full(fl)' modifier");
    world.invalid("CREATE INDEX ON t (keys(fl))", "Cannot create keys() index on frozen column fl. Frozen collections are immutable and must be fully indexed by using the 'full(fl)' modifier");
    world.ok("CREATE INDEX ON t (full(fl))");
    world.invalid("CREATE INDEX ON t (fm)", "Cannot create values() index on frozen column fm. Frozen collections are immutable and must be fully indexed by using the 'full(fm)' modifier");
    world.ok("CREATE INDEX ON t (full(fm))");
    world.ok("CREATE INDEX ON t (e)");
    world.invalid(
        "CREATE INDEX ON t (d)",
        "Secondary indexes are not supported on duration columns",
    );
    world.invalid(
        "CREATE INDEX ON t (u1)",
        "Cannot create index on non-frozen UDT column u1",
    );
    world.ok("CREATE INDEX ON t (fu)");
    world.ok("CREATE INDEX ON t (tp)");
    world.ok("CREATE INDEX ON t (b)");
    world.ok("CREATE INDEX ON t (\"Q x\")");
    world.invalid(
        "CREATE INDEX ON cnt (c)",
        "Secondary indexes on counter tables aren't supported",
    );
    world.refused(
        "CREATE INDEX ON system.local (cluster_name)",
        ErrorCode::UNAUTHORIZED,
        "system keyspace is not user-modifiable.",
    );
    world.refused(
        "CREATE INDEX ON system_auth.roles (is_superuser)",
        ErrorCode::UNAUTHORIZED,
        "Cannot ALTER <table system_auth.roles>",
    );
    world.invalid(
        "CREATE INDEX ON k1 (n) WITH OPTIONS = {'a':'b'}",
        "Cannot specify options for a non-CUSTOM index",
    );
    world.syntax(
        "CREATE INDEX ON k1 (n) WITH nope = {'a':'b'}",
        "Unknown property 'nope'",
    );
    world.invalid(
        "CREATE INDEX ON k1 (n) WITH OPTIONS = 'x'",
        "Cannot specify options for a non-CUSTOM index",
    );
    world.configuration(
        "CREATE INDEX ON k1 (n) USING 'nope'",
        "Unable to find custom indexer class 'nope'",
    );
    world.ok("CREATE INDEX ON k1 (n) USING 'legacy_local_table'");
    world.configuration(
        "CREATE CUSTOM INDEX ON k1 (v)",
        "Unable to find custom indexer class 'legacy_local_table'",
    );
    world.configuration(
        "CREATE CUSTOM INDEX ON k1 (v) USING 'nope'",
        "Unable to find custom indexer class 'nope'",
    );
    world.configuration(
        "CREATE CUSTOM INDEX ON k1 (v) USING 'legacy_local_table'",
        "Unable to find custom indexer class 'legacy_local_table'",
    );
    world.configuration(
        "CREATE INDEX \"Wei rd\" ON k1 (v)",
        "Illegal index name Wei rd",
    );
    world.ok("CREATE INDEX aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ON k1 (v)");
    world.ok("CREATE INDEX ON k2 (a)");
    world.ok("CREATE INDEX ON k2 (c)");
    world.ok("CREATE INDEX ON k2 (d)");
    world.invalid("DROP INDEX nope", "Index 'ks.nope' doesn't exist'");
    world.invalid("DROP INDEX nope.nope", "Index 'nope.nope' doesn't exist'");
    world.unchanged("DROP INDEX IF EXISTS nope");
    world.unchanged("DROP INDEX IF EXISTS nope.nope");
    world.ok("DROP INDEX t_v_idx");
    world.invalid("DROP INDEX t_v_idx", "Index 'ks.t_v_idx' doesn't exist'");
    world.invalid(
        "DROP INDEX system.nope",
        "System keyspace 'system' is not user-modifiable",
    );
    world.invalid(
        "DROP INDEX system_auth.nope",
        "Index 'system_auth.nope' doesn't exist'",
    );
    world.ok("ALTER TABLE t DROP n");
    world.invalid(
        "CREATE INDEX nidx ON t (n)",
        "Undefined column name n in table ks.t",
    );
    world.invalid(
        "ALTER TABLE t DROP s",
        "Cannot drop column s because it has dependent secondary indexes (t_s_idx)",
    );
    world.invalid(
        "ALTER TABLE t RENAME c TO cc",
        "Can't rename column c because it has dependent secondary indexes (t_c_idx)",
    );
    world.invalid(
        "ALTER TABLE k2 RENAME c TO cc",
        "Can't rename column c because it has dependent secondary indexes (k2_c_idx)",
    );
}

#[test]
fn storage_attached_indexes_are_on_types_with_an_order_or_equality() {
    let mut world = World::new();
    world.ok("CREATE TYPE u (a int, b text)");
    world.ok("CREATE TABLE t (k int, c int, s int static, v text, n int, l list<int>, st set<int>, m map<text,int>, fl frozen<list<int>>, fm frozen<map<text,int>>, e vector<float,2>, ei vector<int,2>, e1 vector<float,1>, d duration, b boolean, bl blob, dc decimal, u1 u, fu frozen<u>, tp tuple<int,text>, ts timestamp, ip inet, vi varint, uu uuid, \"Q x\" int, PRIMARY KEY (k, c))");
    world.ok("CREATE TABLE k1 (k int PRIMARY KEY, v text, n int)");
    world.ok("CREATE TABLE k2 (a int, b int, c int, d int, v text, PRIMARY KEY ((a, b), c, d))");
    world.ok("CREATE TABLE cnt (k int PRIMARY KEY, c counter)");
    world.ok("CREATE INDEX ON t (v) USING 'sai'");
    world.invalid(
        "CREATE INDEX ON t (v) USING 'SAI'",
        "Cannot create more than one storage-attached index on the same column: v",
    );
    world.ok("CREATE INDEX ON t (v)");
    world.invalid(
        "CREATE INDEX dup ON t (v) USING 'sai'",
        "Index dup is a duplicate of existing index t_v_idx",
    );
    world.invalid(
        "CREATE INDEX dup ON t (v) USING 'sai' WITH OPTIONS = {'case_sensitive': 'false'}",
        "Cannot create more than one storage-attached index on the same column: v",
    );
    world.ok("CREATE CUSTOM INDEX ON t (n) USING 'StorageAttachedIndex'");
    world.invalid("CREATE CUSTOM INDEX n2 ON t (n) USING 'org.apache.cassandra.index.sai.StorageAttachedIndex'", "Cannot create more than one storage-attached index on the same column: n");
    world.ok("CREATE CUSTOM INDEX b1 ON t (b) USING 'storageattachedindex'");
    world.invalid(
        "CREATE INDEX ON k1 (k) USING 'sai'",
        "Cannot create secondary index on the only partition key column k",
    );
    world.invalid(
        "CREATE INDEX ON t (k) USING 'sai'",
        "Cannot create secondary index on the only partition key column k",
    );
    world.ok("CREATE INDEX ON t (c) USING 'sai'");
    world.ok("CREATE INDEX ON t (s) USING 'sai'");
    world.ok("CREATE INDEX ON t (l) USING 'sai'");
    world.invalid(
        "CREATE INDEX ON t (keys(l)) USING 'sai'",
        "Cannot create index on keys of column l with non-map type",
    );
    world.ok("CREATE INDEX ON t (values(st)) USING 'sai'");
    world.ok("CREATE INDEX mk ON t (keys(m)) USING 'sai'");
    world.ok("CREATE INDEX mv ON t (values(m)) USING 'sai'");
    world.ok("CREATE INDEX me ON t (entries(m)) USING 'sai'");
    world.invalid(
        "CREATE INDEX mf ON t (full(m)) USING 'sai'",
        "full() indexes can only be created on frozen collections",
    );
    world.invalid("CREATE INDEX ON t (fl) USING 'sai'", "Cannot create values() index on frozen column fl. Frozen collections are immutable and must be fully indexed by using the 'full(fl)' modifier");
    world.ok("CREATE INDEX ON t (full(fl)) USING 'sai'");
    world.ok("CREATE INDEX fm1 ON t (full(fm)) USING 'sai'");
    world.invalid("CREATE INDEX fmk ON t (keys(fm)) USING 'sai'", "Cannot create keys() index on frozen column fm. Frozen collections are immutable and must be fully indexed by using the 'full(fm)' modifier");
    world.ok("CREATE INDEX ON t (e) USING 'sai'");
    world.invalid(
        "CREATE INDEX e2 ON t (e) USING 'sai' WITH OPTIONS = {'similarity_function': 'euclidean'}",
        "Cannot create more than one storage-attached index on the same column: e",
    );
    world.ok("DROP INDEX t_e_idx");
    world.ok(
        "CREATE INDEX e2 ON t (e) USING 'sai' WITH OPTIONS = {'similarity_function': 'EUCLIDEAN'}",
    );
    world.ok("DROP INDEX e2");
    world.ok("CREATE INDEX e3 ON t (e) USING 'sai' WITH OPTIONS = {'similarity_function': 'Dot_Product'}");
    world.invalid(
        "CREATE INDEX ON t (ei) USING 'sai'",
        "SAI ANN indexes are only allowed on vector columns with float elements",
    );
    world.invalid(
        "CREATE INDEX ON t (e1) USING 'sai'",
        "Cosine similarity is not supported for single-dimension vectors",
    );
    world.ok("CREATE INDEX e12 ON t (e1) USING 'sai' WITH OPTIONS = {'similarity_function': 'euclidean'}");
    world.invalid(
        "CREATE INDEX ON t (d) USING 'sai'",
        "Secondary indexes are not supported on duration columns",
    );
    world.invalid(
        "CREATE INDEX ON t (bl) USING 'sai'",
        "Unsupported type: blob",
    );
    world.ok("CREATE INDEX ON t (dc) USING 'sai'");
    world.invalid(
        "CREATE INDEX ON t (u1) USING 'sai'",
        "Cannot create index on non-frozen UDT column u1",
    );
    world.ok("CREATE INDEX ON t (fu) USING 'sai'");
    world.ok("CREATE INDEX ON t (tp) USING 'sai'");
    world.ok("CREATE INDEX ON t (ts) USING 'sai'");
    world.ok("CREATE INDEX ON t (ip) USING 'sai'");
    world.ok("CREATE INDEX ON t (vi) USING 'sai'");
    world.ok("CREATE INDEX ON t (uu) USING 'sai'");
    world.invalid("CREATE INDEX ON t (\"Q x\") USING 'sai'", "Column 'Q x' is longer than the permissible name length of 48 characters or contains non-alphanumeric-underscore characters");
    world.invalid(
        "CREATE INDEX ON cnt (c) USING 'sai'",
        "Secondary indexes on counter tables aren't supported",
    );
    world.configuration(
        "CREATE INDEX ON k1 (n) USING 'sai' WITH OPTIONS = {'a':'b'}",
        "Properties specified [a] are not understood by StorageAttachedIndex",
    );
    world.invalid(
        "CREATE INDEX ON k1 (n) USING 'sai' WITH OPTIONS = {'case_sensitive':'false'}",
        "CQL type int cannot be analyzed.",
    );
    world.invalid(
        "CREATE INDEX ON k1 (n) USING 'sai' WITH OPTIONS = {'similarity_function':'cosine'}",
        "CQL type int cannot have vector options",
    );
    world.invalid(
        "CREATE INDEX v3 ON k1 (v) USING 'sai' WITH OPTIONS = {'target':'v'}",
        "Cannot specify target as a CUSTOM option",
    );
    world.invalid(
        "CREATE INDEX v3 ON k1 (v) USING 'sai' WITH OPTIONS = {'class_name':'v'}",
        "Cannot specify class_name as a CUSTOM option",
    );
    world.invalid(
        "CREATE INDEX v4 ON k1 (n, v) USING 'sai'",
        "A storage-attached index cannot be created over multiple columns: n, v",
    );
    world.invalid(
        "CREATE INDEX v4 ON k1 () USING 'sai'",
        "Failed to retrieve target column for: ",
    );
    world.ok("CREATE INDEX ON k2 (a) USING 'sai'");
    world.ok("CREATE INDEX ON k2 (c) USING 'sai'");
    world.ok("CREATE INDEX ON k2 (d) USING 'sai'");
}

#[test]
fn what_no_index_here_does_is_refused() {
    let mut world = World::new();
    world.ok("CREATE TABLE t (k int PRIMARY KEY, v text)");
    world.invalid(
        "CREATE CUSTOM INDEX ON t (v) USING 'org.apache.cassandra.index.sasi.SASIIndex'",
        "SASI indexes are disabled. Enable in cassandra.yaml to use.",
    );
    world.invalid(
        "CREATE INDEX ON t (v) USING 'sai' WITH OPTIONS = {'case_sensitive': 'false'}",
        "The option 'case_sensitive': 'false' of an index is not supported by this server",
    );
    world.ok("CREATE INDEX ON t (v) USING 'sai' WITH OPTIONS = {'case_sensitive': 'true', 'ascii': 'false'}");
}

#[test]
fn an_index_on_a_vector_is_warned_of_and_tells_of_its_table() {
    let mut world = World::new();
    world.ok("CREATE TABLE t (k int PRIMARY KEY, e vector<float, 2>)");
    let update = world.ok("CREATE INDEX ON t (e) USING 'sai'");
    assert_eq!(update.warnings.len(), 1);
    assert!(update.warnings[0].starts_with("SAI ANN indexes on vector columns are experimental"));
    let told = format!("{:?}", update.events);
    assert_eq!(
        told,
        "[SchemaChange { change: Updated, target: Table { keyspace: \"ks\", name: \"t\" } }]"
    );
}

#[test]
fn an_index_goes_with_its_table() {
    let mut world = World::new();
    world.ok("CREATE TABLE t (k int PRIMARY KEY, v int)");
    world.ok("CREATE INDEX i ON t (v)");
    world.ok("DROP TABLE t");
    world.invalid("DROP INDEX i", "Index 'ks.i' doesn't exist'");
}
