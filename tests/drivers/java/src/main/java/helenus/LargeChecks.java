package helenus;

import static helenus.DriverCheck.equal;
import static helenus.DriverCheck.that;

import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Messages that are large, and those whose size is just what a segment holds. */
final class LargeChecks {
  private static final int SEGMENT = 131071;

  private LargeChecks() {}

  private static ByteBuffer blob(int k, int size) {
    byte[] value = new byte[size];
    for (int i = 0; i < size; i++) {
      value[i] = (byte) ((i * 7 + k) % 251);
    }
    return ByteBuffer.wrap(value);
  }

  private static void thereAndBack(DriverCheck context, List<Integer> sizes) {
    String table = context.table("k int PRIMARY KEY, b blob");
    PreparedStatement insert = context.session.prepare("INSERT INTO " + table + " (k, b) VALUES (?, ?)");
    PreparedStatement select = context.session.prepare("SELECT b FROM " + table + " WHERE k = ?");
    for (int size : sizes) {
      context.session.execute(insert.bind(size, blob(size, size)));
      ByteBuffer got = context.session.execute(select.bind(size)).one().getByteBuffer(0);
      that(blob(size, size).equals(got), "a cell of " + size + " bytes came back otherwise");
    }
  }

  static void cell(DriverCheck context) {
    thereAndBack(context, List.of(0, 1, 300_000, 3 << 20));
  }

  /**
   * What surrounds the cell takes some dozens of bytes: one of these requests, and one of these answers, has exactly
   * 131071 bytes, and the next 131072.
   */
  static void segments(DriverCheck context) {
    List<Integer> sizes = new ArrayList<>(List.of(SEGMENT, SEGMENT + 1));
    for (int size = SEGMENT - 130; size < SEGMENT - 20; size++) {
      sizes.add(size);
    }
    thereAndBack(context, sizes);
  }

  static void page(DriverCheck context) {
    String table = context.table("p int, c int, t text, PRIMARY KEY (p, c)");
    PreparedStatement insert = context.session.prepare("INSERT INTO " + table + " (p, c, t) VALUES (1, ?, ?)");
    for (int c = 0; c < 500; c++) {
      context.session.execute(insert.bind(c, text(c)));
    }
    SimpleStatement select = SimpleStatement.newInstance("SELECT c, t FROM " + table + " WHERE p = 1").setPageSize(500);
    ResultSet result = context.session.execute(select);
    equal("rows of the page", result.getAvailableWithoutFetching(), 500);
    int c = 0;
    for (Row row : result) {
      equal("row", row.getInt(0) + row.getString(1), c + text(c));
      c++;
    }
  }

  private static String text(int c) {
    return String.format("%04d", c).repeat(100);
  }
}
