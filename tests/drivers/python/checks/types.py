"""Every native type: its extremes there and back, bound, as a literal, and as null."""

import datetime
import decimal
import ipaddress
import math
import uuid

from cassandra.util import Date, Duration, Time

from . import check, equal, refused

UUID = uuid.UUID("5b6962dd-3f90-4c93-8f61-eabfa4a803e2")
TIMEUUID = uuid.UUID("8e14e760-7fa8-11eb-bc66-000000000001")
EPOCH = datetime.datetime(1970, 1, 1)

# type, values to bind
VALUES = {
    "ascii": ["", "plain", "~!@ '"],
    "bigint": [0, 1, -1, 2**63 - 1, -(2**63)],
    "blob": [b"", b"\x00", bytes(range(256))],
    "boolean": [True, False],
    "date": [Date(0), Date(18687), Date(-(2**31)), Date(2**31 - 1)],
    "decimal": [
        decimal.Decimal(text)
        for text in ("0", "1.10", "-1.10", "3.14159265358979323846264338327950288", "1E+10", "-7E-30")
    ],
    "double": [0.0, 1.5, -2.25e300, 5e-324, math.inf, -math.inf],
    "duration": [Duration(0, 0, 0), Duration(14, 3, 1234567890123), Duration(-1, -2, -3)],
    "float": [0.0, 0.5, -1.25, 3.4028234663852886e38, math.inf],
    "inet": ["127.0.0.1", "255.255.255.255", "::1", "2001:db8::ff00:42:8329"],
    "int": [0, 1, -1, 2**31 - 1, -(2**31)],
    "smallint": [0, -1, 2**15 - 1, -(2**15)],
    "text": ["", "ascii", "Ελληνικά", "日本語", "𝄞 clef", "'quoted'", "line\nbreak\x00nul"],
    "time": [Time(0), Time(1), Time(86399999999999)],
    "timestamp": [
        EPOCH,
        datetime.datetime(2024, 2, 29, 12, 34, 56, 789000),
        datetime.datetime(1900, 1, 1),
        datetime.datetime(9999, 12, 31, 23, 59, 59),
    ],
    "timeuuid": [TIMEUUID],
    "tinyint": [0, -1, 127, -128],
    "uuid": [UUID, uuid.UUID(int=0), uuid.UUID(int=2**128 - 1)],
    "varchar": ["a", "ß"],
    "varint": [0, 1, -1, 127, 128, -128, -129, 2**64, -(2**200), 10**60],
}

# type, literal, value read back
LITERALS = [
    ("ascii", "'it''s'", "it's"),
    ("text", "$$a 'dollar' text$$", "a 'dollar' text"),
    ("bigint", "-9223372036854775808", -(2**63)),
    ("blob", "0xCAFEbabe", b"\xca\xfe\xba\xbe"),
    ("blob", "0x", b""),
    ("boolean", "TRUE", True),
    ("boolean", "false", False),
    ("date", "'2021-03-01'", Date(18687)),
    ("date", "2147483648", Date(0)),
    ("decimal", "-1.50", decimal.Decimal("-1.50")),
    ("decimal", "12", decimal.Decimal("12")),
    ("double", "1e-3", 0.001),
    ("double", "-Infinity", -math.inf),
    ("double", "7", 7.0),
    ("duration", "1y2mo3w4d5h6m7s8ms9us10ns", Duration(14, 25, 18367008009010)),
    ("duration", "P1Y2M3DT4H5M6S", Duration(14, 3, 14706000000000)),
    ("duration", "-2h9m", Duration(0, 0, -7740000000000)),
    ("float", "0.25", 0.25),
    ("inet", "'10.0.0.1'", "10.0.0.1"),
    ("int", "-0", 0),
    ("int", "2147483647", 2**31 - 1),
    ("smallint", "-32768", -(2**15)),
    ("time", "'08:12:54.123456789'", Time(29574123456789)),
    ("timestamp", "'2021-03-01 12:30:00.5+0100'", datetime.datetime(2021, 3, 1, 11, 30, 0, 500000)),
    ("timestamp", "'2021-03-01T00:00:00Z'", datetime.datetime(2021, 3, 1)),
    ("timestamp", "'2021-03-01T00:00:00.123Z'", datetime.datetime(2021, 3, 1, 0, 0, 0, 123000)),
    ("timestamp", "1614556800000", datetime.datetime(2021, 3, 1)),
    ("timeuuid", str(TIMEUUID), TIMEUUID),
    ("tinyint", "127", 127),
    ("uuid", str(UUID).upper(), UUID),
    ("varint", "123456789012345678901234567890", 123456789012345678901234567890),
]


@check
def every_native_type_keeps_its_extremes_when_bound(context):
    columns = ", ".join("c_%s %s" % (t, t) for t in VALUES)
    table = context.table("k int PRIMARY KEY, " + columns)
    for kind, values in VALUES.items():
        column = "c_%s" % kind
        insert = context.prepare("INSERT INTO %s (k, %s) VALUES (?, ?)" % (table, column))
        select = context.prepare("SELECT %s FROM %s WHERE k = ?" % (column, table))
        for k, value in enumerate(values):
            context.run(insert, (k, value))
            got = context.row(select, (k,))[0]
            equal(type_and_value(got), type_and_value(value))
            context.run(insert, (k, None))
            equal(context.row(select, (k,)), (None,))


def type_and_value(value):
    if isinstance(value, decimal.Decimal):
        return value.as_tuple()
    return value


@check
def nan_is_kept(context):
    table = context.table("k int PRIMARY KEY, d double, f float")
    context.run("INSERT INTO %s (k, d, f) VALUES (1, NaN, NaN)" % table)
    d, f = context.row("SELECT d, f FROM %s" % table)
    assert math.isnan(d) and math.isnan(f), (d, f)


@check
def every_native_type_has_its_literals(context):
    kinds = sorted({kind for kind, _, _ in LITERALS})
    table = context.table("k int PRIMARY KEY, " + ", ".join("c_%s %s" % (t, t) for t in kinds))
    for kind, literal, wanted in LITERALS:
        context.run("INSERT INTO %s (k, c_%s) VALUES (1, %s)" % (table, kind, literal))
        got = context.row("SELECT c_%s FROM %s WHERE k = 1" % (kind, table))[0]
        equal((kind, literal, type_and_value(got)), (kind, literal, type_and_value(wanted)))


@check
def inet_is_read_as_the_address_that_was_written(context):
    table = context.table("k int PRIMARY KEY, i inet")
    for text in ("1.2.3.4", "::ffff:1.2.3.5", "fe80::1"):
        address = ipaddress.ip_address(text)
        context.run("INSERT INTO %s (k, i) VALUES (1, '%s')" % (table, text))
        got = ipaddress.ip_address(context.row("SELECT i FROM %s" % table)[0])
        wanted = getattr(address, "ipv4_mapped", None) or address
        equal(got, wanted)


@check
def every_native_type_but_duration_can_be_a_key(context):
    for kind, values in VALUES.items():
        if kind == "duration":
            continue
        values = [v for v in values if v not in ("", b"")]
        table = context.table("p %s, c %s, v int, PRIMARY KEY (p, c)" % (kind, kind))
        insert = context.prepare("INSERT INTO %s (p, c, v) VALUES (?, ?, ?)" % table)
        for v, value in enumerate(values):
            context.run(insert, (values[0], value, v))
        select = context.prepare("SELECT v FROM %s WHERE p = ? AND c = ?" % table)
        for v, value in enumerate(values):
            equal((kind, context.rows(select, (values[0], value))), (kind, [(v,)]))
        equal(len(context.rows("SELECT v FROM %s" % table)), len(values))


@check
def clustering_order_is_the_order_of_the_type(context):
    ordered = {
        "int": [-(2**31), -1, 0, 5, 2**31 - 1],
        "bigint": [-(2**63), -1, 0, 2**63 - 1],
        "tinyint": [-128, -1, 0, 127],
        "smallint": [-300, -1, 0, 300],
        "varint": [-(2**100), -300, -1, 0, 1, 255, 256, 2**100],
        "decimal": [decimal.Decimal(t) for t in ("-1E+30", "-2.5", "-0.001", "0", "0.5", "1.10", "2", "1E+10")],
        "double": [-math.inf, -1.5, 0.0, 1e-300, 2.5, math.inf],
        "float": [-1.5, 0.0, 0.25, 2.5],
        "text": ["", "A", "B", "a", "aa", "b", "é", "日", "𝄞"],
        "blob": [b"", b"\x00", b"\x00\x00", b"\x00\x01", b"\x01", b"\x7f", b"\x80", b"\xff"],
        "boolean": [False, True],
        "date": [Date(-(2**31)), Date(-1), Date(0), Date(1)],
        "time": [Time(0), Time(5), Time(86399999999999)],
        "timestamp": [datetime.datetime(1900, 1, 1), EPOCH, datetime.datetime(2024, 1, 1)],
        "timeuuid": [
            uuid.UUID("00000000-0000-1000-8080-808080808080"),
            uuid.UUID("ffffffff-0000-1000-8080-808080808080"),
            uuid.UUID("00000000-0001-1000-8080-808080808080"),
            uuid.UUID("00000000-0000-1001-8080-808080808080"),
        ],
    }
    for kind, values in ordered.items():
        up = context.table("p int, c %s, PRIMARY KEY (p, c)" % kind)
        down = context.table(
            "p int, c %s, PRIMARY KEY (p, c)" % kind, "WITH CLUSTERING ORDER BY (c DESC)"
        )
        for table in (up, down):
            insert = context.prepare("INSERT INTO %s (p, c) VALUES (1, ?)" % table)
            for value in values[1::2] + values[::2]:
                context.run(insert, (value,))
        equal((kind, [r[0] for r in context.rows("SELECT c FROM %s WHERE p = 1" % up)]), (kind, values))
        equal((kind, [r[0] for r in context.rows("SELECT c FROM %s WHERE p = 1" % down)]), (kind, values[::-1]))
        backwards = context.rows("SELECT c FROM %s WHERE p = 1 ORDER BY c DESC" % up)
        equal((kind, [r[0] for r in backwards]), (kind, values[::-1]))


@check
def a_value_of_the_wrong_size_is_refused(context):
    from cassandra import InvalidRequest
    from cassandra.protocol import QueryMessage  # noqa: F401

    table = context.table("k int PRIMARY KEY, i int, s smallint, u uuid")
    insert = context.prepare("INSERT INTO %s (k, i) VALUES (1, ?)" % table)
    bound = insert.bind((5,))
    bound.values[0] = b"\x00\x01\x02"
    refused(InvalidRequest, "Expected 4 or 0 byte int (3)", context.run, bound)


@check
def functions_make_times_and_ids(context):
    row = context.row(
        "SELECT now(), uuid(), toTimestamp(now()), toDate(now()), toUnixTimestamp(now()), currentTimestamp(), "
        "currentDate(), currentTimeUUID() FROM system.local"
    )
    equal(row[0].version, 1)
    equal(row[1].version, 4)
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    assert abs((row[2] - now).total_seconds()) < 60, row[2]
    assert abs((row[3].date() - now.date()).days) <= 1, row[3]
    assert abs(row[4] / 1000 - (now - EPOCH).total_seconds()) < 60, row[4]
    assert abs((row[5] - now).total_seconds()) < 60, row[5]
    equal(row[7].version, 1)


@check
def conversions_between_times_are_exact(context):
    table = context.table("k int PRIMARY KEY, u timeuuid, t timestamp, d date")
    context.run(
        "INSERT INTO %s (k, u, t, d) VALUES (1, %s, '2021-03-07 22:26:29.350+0000', '2021-03-07')" % (table, TIMEUUID)
    )
    equal(
        context.row("SELECT toTimestamp(u), toDate(u), toUnixTimestamp(u), toDate(t), toTimestamp(d) FROM %s" % table),
        (
            datetime.datetime(2021, 3, 8, 0, 52, 27, 990000),
            Date("2021-03-08"),
            1615164747990,
            Date("2021-03-07"),
            datetime.datetime(2021, 3, 7),
        ),
    )
    equal(
        context.row("SELECT blobAsInt(intAsBlob(7)) FROM system.local"),
        (7,),
    )
