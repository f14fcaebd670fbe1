'use strict';
// Statements of every kind, and what goes wrong with them.

const assert = require('assert');
const { types, errors } = require('cassandra-driver');

exports.negotiation = async (context) => {
  assert.strictEqual(context.client.controlConnection.protocolVersion, context.version);
  assert.deepStrictEqual(context.client.hosts.values().map((h) => [h.datacenter, h.rack]), [['datacenter1', 'rack1']]);
};

exports.prepared_statements = async (context) => {
  const table = await context.table('p int, c text, v int, PRIMARY KEY (p, c)');
  for (let i = 0; i < 10; i++) {
    await context.run(`INSERT INTO ${table} (p, c, v) VALUES (?, ?, ?)`, [1, `c${i}`, i]);
  }
  const select = `SELECT v FROM ${table} WHERE p = :part AND c IN :names LIMIT :most`;
  const result = await context.run(select, { part: 1, names: ['c7', 'c2', 'c9'], most: 2 });
  assert.deepStrictEqual(result.rows.map((row) => row.v), [2, 7]);
  await context.run(`ALTER TABLE ${table} ADD w text`);
  await context.run(`UPDATE ${table} SET w = ? WHERE p = ? AND c = ?`, ['new', 1, 'c1']);
  assert.deepStrictEqual(
    await context.row(`SELECT p, c, v, w FROM ${table} WHERE p = ? AND c = ?`, [1, 'c1']), [1, 'c1', 1, 'new']);
};

/** Either client changes the table, and both go on with what they prepared. */
exports.two_clients_prepare_again = async (context) => {
  const table = await context.table('k int PRIMARY KEY, v text');
  const other = await context.connect({ keyspace: context.keyspace });
  const clients = [context.client, other];
  for (let step = 0; step < 3; step++) {
    if (step > 0) {
      await clients[step - 1].execute(`ALTER TABLE ${table} ADD added${step} int`);
    }
    for (const [k, client] of clients.entries()) {
      await client.execute(`INSERT INTO ${table} (k, v) VALUES (?, ?)`, [k, `v${step}`]);
      const result = await client.execute(`SELECT v FROM ${table} WHERE k = ?`, [k]);
      assert.strictEqual(result.first().v, `v${step}`);
    }
  }
  await other.shutdown();
  assert.strictEqual(await context.client.metadata.checkSchemaAgreement(), true);
};

exports.simple_statements_with_values = async (context) => {
  const table = await context.table('k int PRIMARY KEY, v text');
  await context.run(`INSERT INTO ${table} (k, v) VALUES (?, ?)`, [1, 'bound'], { prepare: false, hints: ['int', 'text'] });
  assert.deepStrictEqual(await context.row(`SELECT v FROM ${table}`), ['bound']);
};

exports.batches = async (context) => {
  const table = await context.table('p int, c int, v text, PRIMARY KEY (p, c)');
  for (const [p, logged] of [[0, true], [1, false]]) {
    const queries = [0, 1, 2, 3, 4].map(
      (c) => ({ query: `INSERT INTO ${table} (p, c, v) VALUES (?, ?, ?)`, params: [p, c, `v${c}`] }));
    queries.push({ query: `DELETE FROM ${table} WHERE p = ? AND c = 3`, params: [p] });
    await context.client.batch(queries, { prepare: true, logged, timestamp: 1000 });
    assert.deepStrictEqual(await context.row(`SELECT count(*) FROM ${table} WHERE p = ${p}`), [4n]);
    assert.deepStrictEqual(await context.row(`SELECT writetime(v) FROM ${table} WHERE p = ${p} AND c = 0`), [1000n]);
  }
};

exports.counters = async (context) => {
  const table = await context.table('k text PRIMARY KEY, n counter');
  const add = `UPDATE ${table} SET n = n + ? WHERE k = ?`;
  await context.client.batch(
    [1n, 2n, 3n, 4n].map((n) => ({ query: add, params: [n, 'a'] })), { prepare: true, counter: true });
  await context.run(`UPDATE ${table} SET n = n - 3 WHERE k = 'a'`);
  assert.deepStrictEqual(await context.row(`SELECT n FROM ${table}`), [7n]);
};

exports.lightweight_transactions = async (context) => {
  const table = await context.table('k int PRIMARY KEY, v int');
  const insert = `INSERT INTO ${table} (k, v) VALUES (?, ?) IF NOT EXISTS`;
  const update = `UPDATE ${table} SET v = ? WHERE k = ? IF v = ?`;
  assert.strictEqual((await context.run(insert, [1, 10])).wasApplied(), true);
  const second = await context.run(insert, [1, 11]);
  assert.deepStrictEqual([second.wasApplied(), second.first().v], [false, 10]);
  assert.strictEqual((await context.run(update, [20, 1, 10])).wasApplied(), true);
  const fourth = await context.run(update, [30, 1, 10]);
  assert.deepStrictEqual([fourth.wasApplied(), fourth.first().v], [false, 20]);
};

exports.time_to_live_and_timestamps = async (context) => {
  const table = await context.table('k int PRIMARY KEY, v text');
  await context.run(`INSERT INTO ${table} (k, v) VALUES (?, ?) USING TTL ? AND TIMESTAMP ?`, [1, 'a', 1000, 123456n]);
  const [ttl, written] = await context.row(`SELECT ttl(v), writetime(v) FROM ${table}`);
  assert.ok(ttl > 990 && ttl <= 1000, `ttl ${ttl}`);
  assert.strictEqual(written, 123456n);
  await context.run(`INSERT INTO ${table} (k, v) VALUES (?, ?)`, [1, 'later'], { prepare: true, timestamp: 200000 });
  await context.run(`INSERT INTO ${table} (k, v) VALUES (?, ?)`, [1, 'earlier'], { prepare: true, timestamp: 150000 });
  assert.deepStrictEqual(await context.row(`SELECT v FROM ${table}`), ['later']);
};

exports.paging = async (context) => {
  const table = await context.table('p int, c int, PRIMARY KEY (p, c)');
  for (let c = 0; c < 50; c++) {
    await context.run(`INSERT INTO ${table} (p, c) VALUES (?, ?)`, [c % 5, c]);
  }
  for (const fetchSize of [1, 7, 49, 50, 51]) {
    const seen = new Set();
    for await (const row of await context.run(`SELECT c FROM ${table}`, [], { prepare: true, fetchSize })) {
      seen.add(row.c);
    }
    assert.strictEqual(seen.size, 50, `rows at page size ${fetchSize}`);
  }
  const sizes = [];
  let pageState;
  do {
    const page = await context.run(`SELECT c FROM ${table} WHERE p = ?`, [1], { prepare: true, fetchSize: 4, pageState });
    sizes.push(page.rows.length);
    pageState = page.pageState;
  } while (pageState);
  assert.deepStrictEqual(sizes, [4, 4, 2]);
};

/** Pages without rows end, or go on to those that have some. */
exports.pages_without_rows = async (context) => {
  const table = await context.table('p int, c int, v int, PRIMARY KEY (p, c)');
  const count = async (cql) => {
    let rows = 0;
    for await (const row of await context.run(cql, [], { prepare: true, fetchSize: 2 })) {
      rows += row.c === undefined ? 0 : 1;
    }
    return rows;
  };
  assert.strictEqual(await count(`SELECT c FROM ${table}`), 0);
  for (let i = 0; i < 40; i++) {
    await context.run(`INSERT INTO ${table} (p, c, v) VALUES (?, ?, ?)`, [i % 10, i, i]);
  }
  assert.strictEqual(await count(`SELECT c FROM ${table} WHERE v = 77 ALLOW FILTERING`), 0);
  for (let p = 1; p < 10; p++) {
    await context.run(`DELETE FROM ${table} WHERE p = ${p}`);
  }
  assert.strictEqual(await count(`SELECT c FROM ${table}`), 4);
};

exports.many_at_once = async (context) => {
  const table = await context.table('k int PRIMARY KEY, v text');
  const keys = Array.from({ length: 500 }, (_, k) => k);
  await Promise.all(keys.map((k) => context.run(`INSERT INTO ${table} (k, v) VALUES (?, ?)`, [k, `v${k}`])));
  const rows = await Promise.all(keys.map((k) => context.row(`SELECT v FROM ${table} WHERE k = ?`, [k])));
  assert.deepStrictEqual(rows, keys.map((k) => [`v${k}`]));
};

exports.errors = async (context) => {
  const table = await context.table('k int PRIMARY KEY');
  const codes = types.responseErrorCodes;
  for (const [cql, code, message, options] of [
    ['SELEC 1', codes.syntaxError, "line 1:0 no viable alternative at input 'SELEC'"],
    ['SELECT * FROM nosuchtable', codes.invalid, 'table nosuchtable does not exist'],
    [`CREATE TABLE ${table} (k int PRIMARY KEY)`, codes.alreadyExists, 'already existing table'],
    [`SELECT * FROM ${table}`, codes.unavailableException, '2 required but only 1 alive',
      { consistency: types.consistencies.two }],
  ]) {
    await assert.rejects(context.run(cql, undefined, options), (error) => {
      const inner = error instanceof errors.NoHostAvailableError ? Object.values(error.innerErrors)[0] : error;
      assert.strictEqual(inner.code, code, `${cql}: ${inner.message}`);
      assert.ok(inner.message.includes(message), `${cql}: ${inner.message}`);
      return true;
    });
  }
};
