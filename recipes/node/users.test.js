'use strict';
const assert = require('assert');
const { before, after, test } = require('node:test');
const { Client } = require('cassandra-driver');
const helenus = require('./helenus.js');

let cassandra;
before(async () => { cassandra = await helenus.start(); });
after(() => cassandra.stop());

test('stores a user', async () => {
  const client = new Client({ contactPoints: [cassandra.address], localDataCenter: 'datacenter1' });
  await client.execute("CREATE KEYSPACE app WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  await client.execute('CREATE TABLE app.users (id int PRIMARY KEY, name text)');
  await client.execute('INSERT INTO app.users (id, name) VALUES (?, ?)', [1, 'Ada'], { prepare: true });
  const found = await client.execute('SELECT name FROM app.users WHERE id = 1');
  assert.strictEqual(found.first().name, 'Ada');
  await client.shutdown();
});
