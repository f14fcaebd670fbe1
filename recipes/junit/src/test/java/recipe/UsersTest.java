package recipe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.datastax.oss.driver.api.core.CqlSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class UsersTest {
  @RegisterExtension static final Helenus CASSANDRA = new Helenus();

  @Test
  void storesAUser() {
    try (CqlSession session =
        CqlSession.builder().addContactPoint(CASSANDRA.address()).withLocalDatacenter("datacenter1").build()) {
      session.execute(
          "CREATE KEYSPACE app WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
      session.execute("CREATE TABLE app.users (id int PRIMARY KEY, name text)");
      session.execute("INSERT INTO app.users (id, name) VALUES (?, ?)", 1, "Ada");
      assertEquals("Ada", session.execute("SELECT name FROM app.users WHERE id = 1").one().getString("name"));
    }
  }
}
