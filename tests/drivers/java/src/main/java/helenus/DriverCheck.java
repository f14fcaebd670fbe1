package helenus;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Drives a CQL server with the Java driver 4: {@code DriverCheck HOST PORT VERSION COMPRESSION}.
 * The environment says the rest, as for every driver's program: ../README.md.
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
  private final InetSocketAddress server;
  private final String compression;
  private int tables;

  private DriverCheck(String host, int port, int version, String compression) throws Exception {
    this.server = new InetSocketAddress(host, port);
    this.version = version;
    this.compression = compression;
    this.keyspace = "java_v" + version;
    this.events = new SchemaEvents();
    session = connect().addSchemaChangeListener(events).build();
    session.execute("DROP KEYSPACE IF EXISTS " + keyspace);
    session.execute(
        "CREATE KEYSPACE "
            + keyspace
            + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    session.execute("USE " + keyspace);
  }

  /** Another session, with connections of its own. */
  CqlSessionBuilder connect() throws Exception {
    DriverConfigLoader config =
        DriverConfigLoader.programmaticBuilder()
            .withString(DefaultDriverOption.PROTOCOL_VERSION, "V" + version)
            // 4.19 sends a deprecated flag with v5 and lz4 together; that is part of what is tested.
            .withString(DefaultDriverOption.PROTOCOL_COMPRESSION, compression)
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(30))
            .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(10))
            .withDuration(DefaultDriverOption.METADATA_SCHEMA_WINDOW, Duration.ofMillis(50))
            .withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(100))
            .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofMillis(200))
            .build();
    CqlSessionBuilder builder =
        CqlSession.builder()
            .addContactPoint(server)
            .withLocalDatacenter("datacenter1")
            .withConfigLoader(config);
    Map<String, String> environment = System.getenv();
    if (environment.containsKey("CHECK_CA")) {
      builder.withSslContext(trusting(Path.of(environment.get("CHECK_CA"))));
    }
    if (environment.containsKey("CHECK_USER")) {
      builder.withAuthCredentials(environment.get("CHECK_USER"), environment.get("CHECK_PASSWORD"));
    }
    return builder;
  }

  private static SSLContext trusting(Path authority) throws Exception {
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    try (InputStream pem = Files.newInputStream(authority)) {
      trusted.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(pem));
    }
    TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, factory.getTrustManagers(), null);
    return context;
  }

  /** Has the harness pause, resume or restart the server; false where nobody can. */
  static boolean control(String word) throws IOException {
    String port = System.getenv("CHECK_CONTROL");
    if (port == null) {
      return false;
    }
    try (Socket harness = new Socket("127.0.0.1", Integer.parseInt(port))) {
      harness.getOutputStream().write((word + "\n").getBytes(StandardCharsets.UTF_8));
      equal(word, new String(harness.getInputStream().readAllBytes(), StandardCharsets.UTF_8), "");
    }
    return true;
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

  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 4) {
      System.err.println("usage: DriverCheck HOST PORT VERSION COMPRESSION");
      System.exit(2);
    }
    Map<String, Check> checks = new LinkedHashMap<>();
    checks.put("negotiation", StatementChecks::negotiation);
    checks.put("native_types", TypeChecks::nativeTypes);
    checks.put("nulls_and_unset", TypeChecks::nullsAndUnset);
    checks.put("collections", TypeChecks::collections);
    checks.put("user_types_and_tuples", TypeChecks::userTypesAndTuples);
    checks.put("types_that_grew", TypeChecks::grownTypes);
    checks.put("vectors", TypeChecks::vectors);
    checks.put("prepared_statements", StatementChecks::prepared);
    checks.put("prepared_metadata_follows_the_schema", StatementChecks::alteredTable);
    checks.put("two_clients_prepare_again", StatementChecks::preparedTwice);
    checks.put("batches", StatementChecks::batches);
    checks.put("counters", StatementChecks::counters);
    checks.put("lightweight_transactions", StatementChecks::transactions);
    checks.put("time_to_live_and_timestamps", StatementChecks::times);
    checks.put("paging", StatementChecks::paging);
    checks.put("pages_without_rows", StatementChecks::emptyPages);
    checks.put("a_large_cell", LargeChecks::cell);
    checks.put("messages_around_the_size_of_a_segment", LargeChecks::segments);
    checks.put("a_page_of_200_kb", LargeChecks::page);
    checks.put("many_at_once", StatementChecks::concurrency);
    checks.put("errors", StatementChecks::errors);
    checks.put("schema_metadata", SchemaChecks::metadata);
    checks.put("schema_events", SchemaChecks::events);
    checks.put("a_request_times_out", DisturbedChecks::timeouts);
    checks.put("drop_keyspace", context -> context.session.execute("DROP KEYSPACE " + context.keyspace));
    // The last one: the server forgets what the others made.
    checks.put("a_session_outlives_its_server", DisturbedChecks::restart);
    int failed = 0;
    DriverCheck context =
        new DriverCheck(
            arguments[0], Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]), arguments[3]);
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
    }
    System.exit(failed == 0 ? 0 : 1);
  }
}
