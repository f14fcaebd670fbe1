package helenus;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Drives a CQL server with the Java driver 4: {@code DriverCheck HOST PORT VERSION}.
 *
 * <p>Prints {@code ok NAME} or {@code not ok NAME: why} for each check; exits 0 when all passed.
 */
public final class DriverCheck {
  /** A check, which throws when what it says isn't so. */
  interface Check {
    void run(DriverCheck context) throws Exception;
  }

  final CqlSession session;
  final SchemaEvents events;
  final String keyspace;
  final int version;
  private int tables;

  private DriverCheck(String host, int port, int version) {
    this.version = version;
    this.keyspace = "java_v" + version;
    this.events = new SchemaEvents();
    DriverConfigLoader config =
        DriverConfigLoader.programmaticBuilder()
            .withString(DefaultDriverOption.PROTOCOL_VERSION, "V" + version)
            // 4.19 sends a deprecated flag with v5 and lz4 together; that is part of what is tested.
            .withString(DefaultDriverOption.PROTOCOL_COMPRESSION, "lz4")
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(30))
            .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(10))
            .withDuration(DefaultDriverOption.METADATA_SCHEMA_WINDOW, Duration.ofMillis(50))
            .build();
    session =
        CqlSession.builder()
            .addContactPoint(new InetSocketAddress(host, port))
            .withLocalDatacenter("datacenter1")
            .withConfigLoader(config)
            .addSchemaChangeListener(events)
            .build();
    session.execute("DROP KEYSPACE IF EXISTS " + keyspace);
    session.execute(
        "CREATE KEYSPACE "
            + keyspace
            + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    session.execute("USE " + keyspace);
  }

  /** Creates a table of these columns and gives its name. */
  String table(String definition) {
    String name = "t" + ++tables;
    session.execute("CREATE TABLE " + name + " (" + definition + ")");
    return name;
  }

  ResultSet run(String cql, Object... values) {
    if (values.length == 0) {
      return session.execute(cql);
    }
    PreparedStatement prepared = session.prepare(cql);
    return session.execute(prepared.bind(values));
  }

  Row row(String cql, Object... values) {
    List<Row> rows = run(cql, values).all();
    equal("rows of " + cql, rows.size(), 1);
    return rows.get(0);
  }

  CqlIdentifier id(String name) {
    return CqlIdentifier.fromInternal(name);
  }

  static void equal(String what, Object got, Object wanted) {
    if (!Objects.equals(got, wanted)) {
      throw new AssertionError(what + ": got " + got + ", wanted " + wanted);
    }
  }

  static void that(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }

  /** Waits ten seconds at most for something that comes with an event. */
  static void eventually(String what, java.util.function.BooleanSupplier condition)
      throws InterruptedException {
    long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    while (!condition.getAsBoolean()) {
      that(System.nanoTime() < end, "not within 10 s: " + what);
      Thread.sleep(20);
    }
  }

  public static void main(String[] arguments) {
    if (arguments.length != 3) {
      System.err.println("usage: DriverCheck HOST PORT VERSION");
      System.exit(2);
    }
    Map<String, Check> checks = new LinkedHashMap<>();
    checks.put("negotiation", StatementChecks::negotiation);
    checks.put("native_types", TypeChecks::nativeTypes);
    checks.put("nulls_and_unset", TypeChecks::nullsAndUnset);
    checks.put("collections", TypeChecks::collections);
    checks.put("user_types_and_tuples", TypeChecks::userTypesAndTuples);
    checks.put("vectors", TypeChecks::vectors);
    checks.put("prepared_statements", StatementChecks::prepared);
    checks.put("prepared_metadata_follows_the_schema", StatementChecks::alteredTable);
    checks.put("batches", StatementChecks::batches);
    checks.put("counters", StatementChecks::counters);
    checks.put("lightweight_transactions", StatementChecks::transactions);
    checks.put("time_to_live_and_timestamps", StatementChecks::times);
    checks.put("paging", StatementChecks::paging);
    checks.put("many_at_once", StatementChecks::concurrency);
    checks.put("errors", StatementChecks::errors);
    checks.put("schema_metadata", SchemaChecks::metadata);
    checks.put("schema_events", SchemaChecks::events);
    int failed = 0;
    DriverCheck context =
        new DriverCheck(arguments[0], Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
    try (CqlSession session = context.session) {
      for (Map.Entry<String, Check> check : checks.entrySet()) {
        try {
          check.getValue().run(context);
          System.out.println("ok " + check.getKey());
        } catch (Exception | AssertionError error) {
          failed++;
          String text = String.valueOf(error).replaceAll("\\s+", " ");
          System.out.println("not ok " + check.getKey() + ": " + text);
        }
      }
      session.execute("DROP KEYSPACE " + context.keyspace);
    }
    System.exit(failed == 0 ? 0 : 1);
  }
}
