package helenus;

import static helenus.DriverCheck.equal;

import com.datastax.oss.driver.api.core.metadata.schema.ClusteringOrder;
import com.datastax.oss.driver.api.core.metadata.schema.TableMetadata;
import com.datastax.oss.driver.api.core.type.DataTypes;
import java.util.List;
import java.util.stream.Collectors;

/** What the driver's metadata shows, and the events that change it. */
final class SchemaChecks {
  private SchemaChecks() {}

  static void metadata(DriverCheck context) {
    context.session.execute(
        "CREATE TABLE described (a int, b text, c timeuuid, s int static, v map<text, frozen<list<int>>>,"
            + " PRIMARY KEY ((a, b), c)) WITH CLUSTERING ORDER BY (c DESC) AND comment = 'said'");
    TableMetadata table =
        context.session.getMetadata().getKeyspace(context.id(context.keyspace)).orElseThrow()
            .getTable("described").orElseThrow();
    equal(
        "partition key",
        table.getPartitionKey().stream().map(c -> c.getName().asInternal()).collect(Collectors.toList()),
        List.of("a", "b"));
    equal("clustering order", List.copyOf(table.getClusteringColumns().values()), List.of(ClusteringOrder.DESC));
    equal("static", table.getColumn("s").orElseThrow().isStatic(), true);
    equal(
        "type",
        table.getColumn("v").orElseThrow().getType(),
        DataTypes.mapOf(DataTypes.TEXT, DataTypes.frozenListOf(DataTypes.INT)));
    equal("comment", table.getOptions().get(context.id("comment")), "said");
    equal("described", table.describe(false).startsWith("CREATE TABLE \"" + context.keyspace + "\".\"described\""), true);
  }

  static void events(DriverCheck context) throws Exception {
    String other = context.keyspace + "_other";
    String[][] steps = {
      {"CREATE TABLE evented (k int PRIMARY KEY)", "created table evented"},
      {"ALTER TABLE evented ADD v int", "updated table evented"},
      {"DROP TABLE evented", "dropped table evented"},
      {"CREATE TYPE evented_type (a int)", "created type evented_type"},
      {"ALTER TYPE evented_type ADD b int", "updated type evented_type"},
      {"DROP TYPE evented_type", "dropped type evented_type"},
      {"CREATE KEYSPACE " + other + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "created keyspace " + other},
      {"ALTER KEYSPACE " + other + " WITH durable_writes = false", "updated keyspace " + other},
      {"DROP KEYSPACE " + other, "dropped keyspace " + other},
    };
    for (String[] step : steps) {
      context.session.execute(step[0]);
      DriverCheck.eventually(step[1], () -> context.events.seen.contains(step[1]));
    }
  }
}
