package helenus;

import static helenus.DriverCheck.equal;

import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.data.CqlDuration;
import com.datastax.oss.driver.api.core.data.CqlVector;
import com.datastax.oss.driver.api.core.data.TupleValue;
import com.datastax.oss.driver.api.core.data.UdtValue;
import com.datastax.oss.driver.api.core.type.UserDefinedType;
import com.datastax.oss.driver.api.core.type.DataTypes;
import com.datastax.oss.driver.api.core.type.TupleType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** Values of every type, there and back. */
final class TypeChecks {
  private TypeChecks() {}

  static void nativeTypes(DriverCheck context) throws Exception {
    Map<String, List<Object>> values = new LinkedHashMap<>();
    values.put("ascii", List.of("", "plain"));
    values.put("bigint", List.of(Long.MIN_VALUE, -1L, 0L, Long.MAX_VALUE));
    values.put("blob", List.of(ByteBuffer.wrap(new byte[] {0, 1, -1}), ByteBuffer.allocate(0)));
    values.put("boolean", List.of(true, false));
    values.put("date", List.of(LocalDate.of(2024, 2, 29), LocalDate.of(-1, 1, 1)));
    values.put("decimal", List.of(new BigDecimal("-1.10"), new BigDecimal("1E+10"), BigDecimal.ZERO));
    values.put("double", List.of(-2.25e300, 0.0, Double.POSITIVE_INFINITY, Double.NaN));
    values.put("duration", List.of(CqlDuration.newInstance(14, 3, 1234567890123L), CqlDuration.newInstance(-1, -2, -3)));
    values.put("float", List.of(0.25f, -1.5f, Float.NEGATIVE_INFINITY));
    values.put("inet", List.of(InetAddress.getByName("10.1.2.3"), InetAddress.getByName("2001:db8::1")));
    values.put("int", List.of(Integer.MIN_VALUE, 0, Integer.MAX_VALUE));
    values.put("smallint", List.of(Short.MIN_VALUE, Short.MAX_VALUE));
    values.put("text", List.of("", "Ελληνικά 𝄞"));
    values.put("time", List.of(LocalTime.MIDNIGHT, LocalTime.of(23, 59, 59, 999999999)));
    values.put("timestamp", List.of(Instant.EPOCH, Instant.ofEpochMilli(1709210096789L), Instant.ofEpochMilli(-1)));
    values.put("timeuuid", List.of(UUID.fromString("8e14e760-7fa8-11eb-bc66-000000000001")));
    values.put("tinyint", List.of(Byte.MIN_VALUE, Byte.MAX_VALUE));
    values.put("uuid", List.of(UUID.fromString("5b6962dd-3f90-4c93-8f61-eabfa4a803e2")));
    values.put("varint", List.of(BigInteger.ZERO, BigInteger.ONE.shiftLeft(200).negate(), BigInteger.valueOf(128)));
    if (context.version < 4) {
      // In v3 these come as custom types, for which the driver has no codecs.
      values.keySet().removeAll(Set.of("date", "time", "smallint", "tinyint", "duration"));
    }
    StringBuilder columns = new StringBuilder("k int PRIMARY KEY");
    values.keySet().forEach(type -> columns.append(", c_" + type + " " + type));
    String table = context.table(columns.toString());
    for (Map.Entry<String, List<Object>> entry : values.entrySet()) {
      String column = "c_" + entry.getKey();
      for (Object value : entry.getValue()) {
        context.run("INSERT INTO " + table + " (k, " + column + ") VALUES (?, ?)", 1, value);
        equal(column, context.row("SELECT " + column + " FROM " + table + " WHERE k = ?", 1).getObject(0), value);
      }
    }
  }

  static void nullsAndUnset(DriverCheck context) {
    String table = context.table("k int PRIMARY KEY, a text, b int");
    String insert = "INSERT INTO " + table + " (k, a, b) VALUES (?, ?, ?)";
    context.run(insert, 1, "a", 1);
    context.run(insert, 1, null, 2);
    Row row = context.row("SELECT a, b FROM " + table);
    equal("null deletes", Arrays.asList(row.getObject(0), row.getObject(1)), Arrays.asList(null, 2));
    if (context.version < 4) {
      return;
    }
    BoundStatement unset = context.session.prepare(insert).bind().setInt("k", 1).setString("a", "new");
    context.session.execute(unset);
    row = context.row("SELECT a, b FROM " + table);
    equal("unset leaves", Arrays.asList(row.getObject(0), row.getObject(1)), Arrays.asList("new", 2));
  }

  static void collections(DriverCheck context) {
    String table =
        context.table("k int PRIMARY KEY, l list<int>, s set<text>, m map<text, bigint>, f frozen<map<int, frozen<list<text>>>>");
    Map<Integer, List<String>> nested = Map.of(1, List.of("a", "b"), 2, List.of());
    context.run(
        "INSERT INTO " + table + " (k, l, s, m, f) VALUES (?, ?, ?, ?, ?)",
        1, List.of(3, 1, 3), Set.of("b", "a"), Map.of("x", -1L), nested);
    context.run("UPDATE " + table + " SET l = l + ?, m[?] = ?, s = s - ? WHERE k = ?", List.of(7), "z", 9L, Set.of("b"), 1);
    context.run("DELETE l[?] FROM " + table + " WHERE k = ?", 0, 1);
    Row row = context.row("SELECT l, s, m, f FROM " + table + " WHERE k = 1");
    equal("list", row.getList(0, Integer.class), List.of(1, 3, 7));
    equal("set", row.getSet(1, String.class), new LinkedHashSet<>(List.of("a")));
    equal("map", row.getMap(2, String.class, Long.class), Map.of("x", -1L, "z", 9L));
    equal("nested", row.getObject(3), nested);
    context.run("INSERT INTO " + table + " (k, l) VALUES (?, ?)", 2, Collections.emptyList());
    equal("an empty list is null", context.row("SELECT l FROM " + table + " WHERE k = 2").isNull(0), true);
  }

  static void userTypesAndTuples(DriverCheck context) {
    context.session.execute("CREATE TYPE address (street text, number int)");
    String table =
        context.table("k int PRIMARY KEY, a frozen<address>, u address, l list<frozen<address>>, t tuple<int, text>");
    UserDefinedType type =
        context.session.getMetadata().getKeyspace(context.id(context.keyspace)).orElseThrow()
            .getUserDefinedType("address").orElseThrow();
    UdtValue home = type.newValue("Main", 7);
    UdtValue work = type.newValue("Side", null);
    TupleType tupleType = DataTypes.tupleOf(DataTypes.INT, DataTypes.TEXT);
    TupleValue tuple = tupleType.newValue(5, null);
    context.run("INSERT INTO " + table + " (k, a, u, l, t) VALUES (?, ?, ?, ?, ?)", 1, home, work, List.of(work, home), tuple);
    Row row = context.row("SELECT a, u, l, t FROM " + table);
    equal("frozen", row.getUdtValue(0).getString("street") + row.getUdtValue(0).getInt("number"), "Main7");
    equal("a null field", row.getUdtValue(1).isNull("number"), true);
    equal("list", row.getList(2, UdtValue.class).get(1).getString("street"), "Main");
    equal("tuple", row.getTupleValue(3).getInt(0), 5);
    equal("a null in a tuple", row.getTupleValue(3).isNull(1), true);
    context.run("UPDATE " + table + " SET u.number = ? WHERE k = ?", 9, 1);
    equal("field", context.row("SELECT u.number FROM " + table).getInt(0), 9);
  }

  /** A type that gained a field: what was written before lacks it. */
  static void grownTypes(DriverCheck context) {
    context.session.execute("CREATE TYPE place (street text)");
    String table = context.table("k int PRIMARY KEY, a frozen<place>");
    context.session.execute("INSERT INTO " + table + " (k, a) VALUES (1, {street: 'Old'})");
    context.session.execute("ALTER TYPE place ADD number int");
    context.session.execute("INSERT INTO " + table + " (k, a) VALUES (2, {street: 'New', number: 7})");
    String select = "SELECT a FROM " + table + " WHERE k = ?";
    UdtValue old = context.row(select, 1).getUdtValue(0);
    equal("before", Arrays.asList(old.getString("street"), old.isNull("number")), List.of("Old", true));
    UdtValue grown = context.row(select, 2).getUdtValue(0);
    equal("after", Arrays.asList(grown.getString("street"), grown.getInt("number")), List.of("New", 7));
  }

  static void vectors(DriverCheck context) {
    String table = context.table("k int PRIMARY KEY, f vector<float, 3>, t vector<text, 2>");
    CqlVector<Float> floats = CqlVector.newInstance(0.5f, -1f, 2.25f);
    CqlVector<String> texts = CqlVector.newInstance("a", "longer");
    context.run("INSERT INTO " + table + " (k, f, t) VALUES (?, ?, ?)", 1, floats, texts);
    Row row = context.row("SELECT f, t FROM " + table);
    equal("floats", row.getVector(0, Float.class), floats);
    equal("texts", row.getVector(1, String.class), texts);
  }
}
