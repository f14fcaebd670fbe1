package helenus;

import static helenus.DriverCheck.equal;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.servererrors.QueryExecutionException;
import java.time.Duration;
import java.util.List;

/** A server that stops answering, or that ends and comes back on the same port. */
final class DisturbedChecks {
  private DisturbedChecks() {}

  static void timeouts(DriverCheck context) throws Exception {
    String table = context.table("k int PRIMARY KEY, v int");
    PreparedStatement insert = context.session.prepare("INSERT INTO " + table + " (k, v) VALUES (?, ?)");
    context.session.execute(insert.bind(1, 1));
    if (!DriverCheck.control("pause")) {
      return;
    }
    int late = 0;
    for (int k = 0; k < 3; k++) {
      try {
        context.session.execute(insert.bind(k, 10 + k).setTimeout(Duration.ofMillis(300)));
      } catch (DriverTimeoutException error) {
        late++;
      }
    }
    DriverCheck.control("resume");
    equal("requests that timed out", late, 3);
    // The late answers belong to nobody; what is asked now is answered with its own.
    for (int k = 0; k < 20; k++) {
      context.session.execute(insert.bind(k, k));
      equal("value", context.row("SELECT v FROM " + table + " WHERE k = ?", k).getInt(0), k);
    }
  }

  static void restart(DriverCheck context) throws Exception {
    if (!DriverCheck.control("resume")) {
      return;
    }
    String name = context.keyspace + "_again";
    List<String> schema =
        List.of(
            "CREATE KEYSPACE " + name + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
            "CREATE TABLE " + name + ".t (k int PRIMARY KEY, v text)");
    try (CqlSession session = context.connect().build()) {
      schema.forEach(session::execute);
      PreparedStatement insert = session.prepare("INSERT INTO " + name + ".t (k, v) VALUES (?, ?)");
      session.execute(insert.bind(1, "before"));
      DriverCheck.control("restart");
      DriverCheck.eventually("an answer of the server that came back", () -> answers(session));
      // It keeps nothing: the statement that the driver prepared before is unknown, and prepared again.
      schema.forEach(session::execute);
      session.execute(insert.bind(1, "after"));
      equal("value", session.execute("SELECT v FROM " + name + ".t").one().getString(0), "after");
      session.execute("DROP KEYSPACE " + name);
    }
  }

  private static boolean answers(CqlSession session) {
    try {
      // The control connection comes back by itself; a change of the schema would wait for it in vain.
      return session.execute("SELECT key FROM system.local").one() != null && session.checkSchemaAgreement();
    } catch (AllNodesFailedException | DriverTimeoutException | QueryExecutionException error) {
      return false;
    }
  }
}
