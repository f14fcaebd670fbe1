'use strict';
// Values of every type, there and back.

const assert = require('assert');
const { types } = require('cassandra-driver');

const VALUES = {
  ascii: ['', 'plain'],
  bigint: [-(2n ** 63n), -1n, 0n, 2n ** 63n - 1n],
  blob: [Buffer.from([0, 1, 254, 255]), Buffer.alloc(0)],
  boolean: [true, false],
  date: [new types.LocalDate(2024, 2, 29), new types.LocalDate(1, 1, 1)],
  decimal: [types.BigDecimal.fromString('-1.10'), types.BigDecimal.fromString('3.14159265358979323846')],
  double: [-2.25e300, 0, Infinity],
  duration: [types.Duration.fromString('14mo3d1234567890123ns'), types.Duration.fromString('-1mo2d3ns')],
  float: [0.25, -1.5],
  inet: [types.InetAddress.fromString('10.1.2.3'), types.InetAddress.fromString('2001:db8::1')],
  int: [-(2 ** 31), 0, 2 ** 31 - 1],
  smallint: [-(2 ** 15), 2 ** 15 - 1],
  text: ['', 'Ελληνικά 𝄞'],
  time: [types.LocalTime.fromString('00:00:00'), types.LocalTime.fromString('23:59:59.999999999')],
  timestamp: [new Date(0), new Date(1709210096789), new Date(-1)],
  timeuuid: [types.TimeUuid.fromString('8e14e760-7fa8-11eb-bc66-000000000001')],
  tinyint: [-128, 127],
  uuid: [types.Uuid.fromString('5b6962dd-3f90-4c93-8f61-eabfa4a803e2')],
  varint: [0n, -(2n ** 200n), 128n],
};

// In v3 these come as custom types, for which the driver has no encoders.
const SINCE_V4 = ['date', 'time', 'smallint', 'tinyint', 'duration'];

exports.native_types = async (context) => {
  const columns = Object.keys(VALUES).map((type) => `c_${type} ${type}`);
  const table = await context.table(`k int PRIMARY KEY, ${columns.join(', ')}`);
  for (const [type, values] of Object.entries(VALUES)) {
    if (context.version < 4 && SINCE_V4.includes(type)) {
      continue;
    }
    for (const value of values) {
      await context.run(`INSERT INTO ${table} (k, c_${type}) VALUES (?, ?)`, [1, value]);
      const [got] = await context.row(`SELECT c_${type} FROM ${table} WHERE k = ?`, [1]);
      assert.deepStrictEqual(got, value, `${type}: got ${got}, wanted ${value}`);
    }
  }
};

exports.nulls_and_unset = async (context) => {
  const table = await context.table('k int PRIMARY KEY, a text, b int');
  const insert = `INSERT INTO ${table} (k, a, b) VALUES (?, ?, ?)`;
  await context.run(insert, [1, 'a', 1]);
  await context.run(insert, [1, null, context.version < 4 ? 1 : types.unset]);
  assert.deepStrictEqual(await context.row(`SELECT a, b FROM ${table}`), [null, 1]);
};

exports.collections = async (context) => {
  const table = await context.table(
    'k int PRIMARY KEY, l list<int>, s set<text>, m map<text, bigint>, f frozen<map<int, frozen<list<text>>>>');
  const nested = new Map([[1, ['a', 'b']], [2, ['c']]]);
  await context.run(`INSERT INTO ${table} (k, l, s, m, f) VALUES (?, ?, ?, ?, ?)`,
    [1, [3, 1, 3], new Set(['b', 'a']), new Map([['x', -1n]]), nested]);
  await context.run(`UPDATE ${table} SET l = l + ?, m[?] = ?, s = s - ? WHERE k = ?`, [[7], 'z', 9n, new Set(['b']), 1]);
  await context.run(`DELETE l[?] FROM ${table} WHERE k = ?`, [0, 1]);
  const row = await context.row(`SELECT l, s, m, f FROM ${table}`);
  assert.deepStrictEqual(row, [[1, 3, 7], new Set(['a']), new Map([['x', -1n], ['z', 9n]]), nested]);
  await context.run(`INSERT INTO ${table} (k, l) VALUES (?, ?)`, [2, []]);
  assert.deepStrictEqual(await context.row(`SELECT l FROM ${table} WHERE k = 2`), [null]);
};

exports.user_types_and_tuples = async (context) => {
  await context.run('CREATE TYPE address (street text, number int)');
  const table = await context.table(
    'k int PRIMARY KEY, a frozen<address>, u address, l list<frozen<address>>, t tuple<int, text>');
  const home = { street: 'Main', number: 7 };
  await context.run(`INSERT INTO ${table} (k, a, u, l, t) VALUES (?, ?, ?, ?, ?)`,
    [1, home, { street: 'Side', number: null }, [home], new types.Tuple(5, null)]);
  await context.run(`UPDATE ${table} SET u.number = ? WHERE k = ?`, [9, 1]);
  const [a, u, l, t] = await context.row(`SELECT a, u, l, t FROM ${table}`);
  assert.deepStrictEqual({ ...a }, home);
  assert.deepStrictEqual({ ...u }, { street: 'Side', number: 9 });
  assert.deepStrictEqual(l.map((x) => ({ ...x })), [home]);
  assert.deepStrictEqual(t.values(), [5, null]);
  assert.deepStrictEqual(await context.row(`SELECT a.street FROM ${table}`), ['Main']);
};

/** A type that gained a field: what was written before lacks it. */
exports.types_that_grew = async (context) => {
  await context.run('CREATE TYPE place (street text)');
  const table = await context.table('k int PRIMARY KEY, a frozen<place>');
  await context.run(`INSERT INTO ${table} (k, a) VALUES (1, {street: 'Old'})`);
  await context.run('ALTER TYPE place ADD number int');
  await context.run(`INSERT INTO ${table} (k, a) VALUES (2, {street: 'New', number: 7})`);
  for (const [k, street, number] of [[1, 'Old', undefined], [2, 'New', 7]]) {
    const [got] = await context.row(`SELECT a FROM ${table} WHERE k = ${k}`);
    assert.deepStrictEqual([got.street, got.number ?? undefined], [street, number]);
  }
};

exports.vectors = async (context) => {
  const table = await context.table('k int PRIMARY KEY, f vector<float, 3>, t vector<text, 2>');
  await context.run(`INSERT INTO ${table} (k, f, t) VALUES (?, ?, ?)`,
    [1, new types.Vector(new Float32Array([0.5, -1, 2.25]), 'float'), new types.Vector(['a', 'longer'], 'text')]);
  const [floats, texts] = await context.row(`SELECT f, t FROM ${table}`);
  assert.deepStrictEqual([...floats], [0.5, -1, 2.25]);
  assert.deepStrictEqual([...texts], ['a', 'longer']);
};
