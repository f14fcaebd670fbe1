'use strict';
// What the driver's metadata shows, and the events that change it.

const assert = require('assert');

/** Tries for ten seconds. */
async function eventually(what, body) {
  const end = Date.now() + 10000;
  for (;;) {
    if (await body()) {
      return;
    }
    assert.ok(Date.now() < end, `not within 10 s: ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

exports.schema_metadata = async (context) => {
  await context.run('CREATE TABLE described (a int, b text, c timeuuid, s int static, v map<text, frozen<list<int>>>, '
    + "PRIMARY KEY ((a, b), c)) WITH CLUSTERING ORDER BY (c DESC) AND comment = 'said' AND gc_grace_seconds = 60");
  const table = await context.client.metadata.getTable(context.keyspace, 'described');
  assert.deepStrictEqual(table.partitionKeys.map((c) => c.name), ['a', 'b']);
  assert.deepStrictEqual(table.clusteringKeys.map((c) => c.name), ['c']);
  assert.deepStrictEqual(table.clusteringOrder, ['DESC']);
  assert.deepStrictEqual(table.columns.map((c) => c.name).sort(), ['a', 'b', 'c', 's', 'v']);
  assert.deepStrictEqual([table.comment, table.gcGraceSeconds], ['said', 60]);
  const address = await context.client.metadata.getUdt(context.keyspace, 'address');
  assert.deepStrictEqual(address.fields.map((f) => f.name), ['street', 'number']);
};

exports.schema_events = async (context) => {
  const other = `${context.keyspace}_other`;
  const metadata = context.client.metadata;
  // The driver caches what it has read and forgets it on an event.
  await context.run('CREATE TABLE evented (k int PRIMARY KEY)');
  assert.strictEqual((await metadata.getTable(context.keyspace, 'evented')).columns.length, 1);
  await context.run('ALTER TABLE evented ADD v int');
  await eventually('ALTER TABLE', async () => (await metadata.getTable(context.keyspace, 'evented')).columns.length === 2);
  await context.run('DROP TABLE evented');
  await eventually('DROP TABLE', async () => (await metadata.getTable(context.keyspace, 'evented')) === null);
  await context.run(
    `CREATE KEYSPACE ${other} WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`);
  await eventually('CREATE KEYSPACE', () => other in metadata.keyspaces);
  await context.run(`DROP KEYSPACE ${other}`);
  await eventually('DROP KEYSPACE', () => !(other in metadata.keyspaces));
};
