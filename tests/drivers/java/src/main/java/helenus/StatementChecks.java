package helenus;

import static helenus.DriverCheck.equal;
import static helenus.DriverCheck.that;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchStatementBuilder;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.AlreadyExistsException;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import com.datastax.oss.driver.api.core.type.DataTypes;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** Statements of every kind, and what goes wrong with them. */
final class StatementChecks {
  private StatementChecks() {}

  static void negotiation(DriverCheck context) {
    equal("version", context.session.getContext().getProtocolVersion().getCode(), context.version);
    equal("nodes", context.session.getMetadata().getNodes().size(), 1);
    that(context.session.getMetadata().getTokenMap().isPresent(), "no token map");
  }

  static void prepared(DriverCheck context) {
    String table = context.table("p int, c text, v int, PRIMARY KEY (p, c)");
    for (int i = 0; i < 10; i++) {
      context.run("INSERT INTO " + table + " (p, c, v) VALUES (?, ?, ?)", 1, "c" + i, i);
    }
    PreparedStatement select =
        context.session.prepare("SELECT v FROM " + table + " WHERE p = :part AND c IN :names LIMIT :most");
    equal("variable", select.getVariableDefinitions().get(0).getName().asInternal(), "part");
    equal("type", select.getVariableDefinitions().get(1).getType(), DataTypes.listOf(DataTypes.TEXT));
    // PREPARED tells it since v4.
    equal("partition key", select.getPartitionKeyIndices(), context.version < 4 ? List.of() : List.of(0));
    List<Integer> got = new ArrayList<>();
    context.session.execute(select.bind(1, List.of("c7", "c2", "c9"), 2)).forEach(row -> got.add(row.getInt(0)));
    equal("rows", got, List.of(2, 7));
  }

  static void alteredTable(DriverCheck context) {
    String table = context.table("k int PRIMARY KEY, v text");
    context.run("INSERT INTO " + table + " (k, v) VALUES (?, ?)", 1, "a");
    PreparedStatement select = context.session.prepare("SELECT * FROM " + table + " WHERE k = ?");
    equal("columns before", context.session.execute(select.bind(1)).getColumnDefinitions().size(), 2);
    context.session.execute("ALTER TABLE " + table + " ADD added int");
    context.run("UPDATE " + table + " SET added = ? WHERE k = ?", 5, 1);
    if (context.version < 5) {
      return; // no result metadata ids: the driver decodes with the columns of PREPARE
    }
    ResultSet result = context.session.execute(select.bind(1));
    Row row = result.one();
    equal("columns after", result.getColumnDefinitions().size(), 3);
    equal("values", row.getString("v") + row.getInt("added"), "a5");
  }

  /** Either client changes the table, and both go on with what they prepared. */
  static void preparedTwice(DriverCheck context) throws Exception {
    String table = context.table("k int PRIMARY KEY, v text");
    try (CqlSession other = context.connect().withKeyspace(context.keyspace).build()) {
      List<CqlSession> clients = List.of(context.session, other);
      List<PreparedStatement> inserts = new ArrayList<>();
      List<PreparedStatement> selects = new ArrayList<>();
      for (CqlSession client : clients) {
        inserts.add(client.prepare("INSERT INTO " + table + " (k, v) VALUES (?, ?)"));
        selects.add(client.prepare("SELECT k, v FROM " + table + " WHERE k = ?"));
      }
      for (int step = 0; step < 2; step++) {
        clients.get(step).execute("ALTER TABLE " + table + " ADD added" + step + " int");
        for (int k = 0; k < 2; k++) {
          clients.get(k).execute(inserts.get(k).bind(k, "v" + step));
          equal("value", clients.get(k).execute(selects.get(k).bind(k)).one().getString("v"), "v" + step);
        }
      }
    }
    that(context.session.checkSchemaAgreement(), "no agreement on the schema");
  }

  static void batches(DriverCheck context) {
    String table = context.table("p int, c int, v text, PRIMARY KEY (p, c)");
    PreparedStatement insert = context.session.prepare("INSERT INTO " + table + " (p, c, v) VALUES (?, ?, ?)");
    for (DefaultBatchType type : List.of(DefaultBatchType.LOGGED, DefaultBatchType.UNLOGGED)) {
      BatchStatementBuilder batch = BatchStatement.builder(type).setQueryTimestamp(1000);
      int p = type.ordinal();
      for (int c = 0; c < 5; c++) {
        batch.addStatement(insert.bind(p, c, "v" + c));
      }
      batch.addStatement(SimpleStatement.newInstance("DELETE FROM " + table + " WHERE p = " + p + " AND c = 3"));
      context.session.execute(batch.build());
      equal("rows", context.row("SELECT count(*) FROM " + table + " WHERE p = ?", p).getLong(0), 4L);
      equal("timestamp", context.row("SELECT writetime(v) FROM " + table + " WHERE p = ? AND c = 0", p).getLong(0), 1000L);
    }
  }

  static void counters(DriverCheck context) {
    String table = context.table("k text PRIMARY KEY, n counter");
    PreparedStatement add = context.session.prepare("UPDATE " + table + " SET n = n + ? WHERE k = ?");
    BatchStatementBuilder batch = BatchStatement.builder(DefaultBatchType.COUNTER);
    for (long i = 1; i <= 4; i++) {
      batch.addStatement(add.bind(i, "a"));
    }
    context.session.execute(batch.build());
    context.session.execute("UPDATE " + table + " SET n = n - 3 WHERE k = 'a'");
    equal("counter", context.row("SELECT n FROM " + table).getLong(0), 7L);
  }

  static void transactions(DriverCheck context) {
    String table = context.table("k int PRIMARY KEY, v int");
    String insert = "INSERT INTO " + table + " (k, v) VALUES (?, ?) IF NOT EXISTS";
    equal("first", context.run(insert, 1, 10).wasApplied(), true);
    ResultSet second = context.run(insert, 1, 11);
    equal("second", second.wasApplied(), false);
    equal("the row that was there", second.one().getInt("v"), 10);
    String update = "UPDATE " + table + " SET v = ? WHERE k = ? IF v = ?";
    equal("third", context.run(update, 20, 1, 10).wasApplied(), true);
    ResultSet fourth = context.run(update, 30, 1, 10);
    equal("fourth", fourth.wasApplied(), false);
    equal("the value that was there", fourth.one().getInt("v"), 20);
  }

  static void times(DriverCheck context) {
    String table = context.table("k int PRIMARY KEY, v text");
    context.run("INSERT INTO " + table + " (k, v) VALUES (?, ?) USING TTL ? AND TIMESTAMP ?", 1, "a", 1000, 123456L);
    Row row = context.row("SELECT ttl(v), writetime(v) FROM " + table);
    that(row.getInt(0) > 990 && row.getInt(0) <= 1000, "ttl " + row.getInt(0));
    equal("writetime", row.getLong(1), 123456L);
    String later = "INSERT INTO " + table + " (k, v) VALUES (1, 'later')";
    context.session.execute(SimpleStatement.builder(later).setQueryTimestamp(200000).build());
    context.session.execute(SimpleStatement.builder(later.replace("later", "earlier")).setQueryTimestamp(150000).build());
    equal("the later write wins", context.row("SELECT v FROM " + table).getString(0), "later");
  }

  static void paging(DriverCheck context) {
    String table = context.table("p int, c int, PRIMARY KEY (p, c)");
    for (int c = 0; c < 50; c++) {
      context.run("INSERT INTO " + table + " (p, c) VALUES (?, ?)", c % 5, c);
    }
    for (int size : List.of(1, 7, 49, 50, 51)) {
      Set<Integer> seen = new HashSet<>();
      SimpleStatement scan = SimpleStatement.newInstance("SELECT c FROM " + table).setPageSize(size);
      context.session.execute(scan).forEach(row -> seen.add(row.getInt(0)));
      equal("rows at page size " + size, seen.size(), 50);
    }
    List<Integer> sizes = new ArrayList<>();
    ByteBuffer state = null;
    do {
      SimpleStatement page =
          SimpleStatement.newInstance("SELECT c FROM " + table + " WHERE p = 1").setPageSize(4).setPagingState(state);
      ResultSet result = context.session.execute(page);
      sizes.add(result.getAvailableWithoutFetching());
      state = result.getExecutionInfo().getPagingState();
    } while (state != null);
    equal("page sizes", sizes, List.of(4, 4, 2));
  }

  /** Pages without rows end, or go on to those that have some. */
  static void emptyPages(DriverCheck context) {
    String table = context.table("p int, c int, v int, PRIMARY KEY (p, c)");
    SimpleStatement all = SimpleStatement.newInstance("SELECT c FROM " + table).setPageSize(2);
    equal("rows of an empty table", context.session.execute(all).all().size(), 0);
    for (int i = 0; i < 40; i++) {
      context.run("INSERT INTO " + table + " (p, c, v) VALUES (?, ?, ?)", i % 10, i, i);
    }
    SimpleStatement none =
        SimpleStatement.newInstance("SELECT c FROM " + table + " WHERE v = 77 ALLOW FILTERING").setPageSize(2);
    equal("rows that match", context.session.execute(none).all().size(), 0);
    for (int p = 1; p < 10; p++) {
      context.session.execute("DELETE FROM " + table + " WHERE p = " + p);
    }
    equal("rows left", context.session.execute(all).all().size(), 4);
  }

  static void concurrency(DriverCheck context) throws Exception {
    String table = context.table("k int PRIMARY KEY, v text");
    PreparedStatement insert = context.session.prepare("INSERT INTO " + table + " (k, v) VALUES (?, ?)");
    PreparedStatement select = context.session.prepare("SELECT v FROM " + table + " WHERE k = ?");
    List<CompletionStage<AsyncResultSet>> futures = new ArrayList<>();
    for (int k = 0; k < 500; k++) {
      int key = k;
      futures.add(
          context.session.executeAsync(insert.bind(key, "v" + key))
              .thenCompose(done -> context.session.executeAsync(select.bind(key))));
    }
    for (int k = 0; k < 500; k++) {
      equal("value", futures.get(k).toCompletableFuture().get().one().getString(0), "v" + k);
    }
  }

  static void errors(DriverCheck context) {
    refused(SyntaxError.class, "line 1:0 no viable alternative at input 'SELEC'", context, "SELEC 1");
    refused(InvalidQueryException.class, "table nosuchtable does not exist", context, "SELECT * FROM nosuchtable");
    refused(AlreadyExistsException.class, context.keyspace, context, "CREATE KEYSPACE " + context.keyspace
        + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    String table = context.table("k int PRIMARY KEY");
    SimpleStatement two =
        SimpleStatement.newInstance("SELECT k FROM " + table + " WHERE k = 1")
            .setConsistencyLevel(DefaultConsistencyLevel.TWO);
    try {
      context.session.execute(two);
      throw new AssertionError("CL TWO was served");
    } catch (UnavailableException error) {
      equal("required", error.getRequired(), 2);
      equal("alive", error.getAlive(), 1);
    } catch (AllNodesFailedException error) {
      that(error.toString().contains("required but only 1 alive"), error.toString());
    }
  }

  private static void refused(Class<? extends Exception> kind, String text, DriverCheck context, String cql) {
    try {
      context.session.execute(cql);
    } catch (Exception error) {
      that(kind.isInstance(error) && error.getMessage().contains(text), cql + ": " + error);
      return;
    }
    throw new AssertionError("accepted: " + cql);
  }
}
