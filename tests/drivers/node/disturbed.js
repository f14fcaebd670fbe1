'use strict';
// A server that stops answering, or that ends and comes back on the same port.

const assert = require('assert');
const { errors, policies } = require('cassandra-driver');

exports.a_request_times_out = async (context) => {
  const table = await context.table('k int PRIMARY KEY, v int');
  const insert = `INSERT INTO ${table} (k, v) VALUES (?, ?)`;
  await context.run(insert, [1, 1]);
  if (!await context.control('pause')) {
    return;
  }
  let late = 0;
  for (let k = 0; k < 3; k++) {
    try {
      await context.run(insert, [k, 10 + k], { prepare: true, readTimeout: 300 });
    } catch (error) {
      const inner = error instanceof errors.NoHostAvailableError ? Object.values(error.innerErrors)[0] : error;
      late += inner instanceof errors.OperationTimedOutError ? 1 : 0;
    }
  }
  await context.control('resume');
  assert.strictEqual(late, 3);
  // The late answers belong to nobody; what is asked now is answered with its own.
  for (let k = 0; k < 20; k++) {
    await context.run(insert, [k, k]);
    assert.deepStrictEqual(await context.row(`SELECT v FROM ${table} WHERE k = ?`, [k]), [k]);
  }
};

exports.drop_keyspace = (context) => context.close();

// The last one: the server forgets what the others made.
exports.a_session_outlives_its_server = async (context) => {
  if (!await context.control('resume')) {
    return;
  }
  const client = await context.connect(
    { policies: { reconnection: new policies.reconnection.ConstantReconnectionPolicy(100) } });
  const name = `${context.keyspace}_again`;
  const write = async (value) => {
    await client.execute(
      `CREATE KEYSPACE ${name} WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`);
    await client.execute(`CREATE TABLE ${name}.t (k int PRIMARY KEY, v text)`);
    await client.execute(`INSERT INTO ${name}.t (k, v) VALUES (?, ?)`, [1, value]);
    const result = await client.execute(`SELECT v FROM ${name}.t WHERE k = ?`, [1]);
    assert.strictEqual(result.first().v, value);
  };
  await write('before');
  await context.control('restart');
  for (const end = Date.now() + 10000; ;) {
    try {
      await client.execute('SELECT key FROM system.local');
      break;
    } catch (error) {
      assert.ok(Date.now() < end, `no answer of the server that came back: ${error.message}`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  // It keeps nothing: the statements that the driver prepared before are unknown, and prepared again.
  await write('after');
  await client.execute(`DROP KEYSPACE ${name}`);
  await client.shutdown();
};
