'use strict';
// Drives a CQL server with the Node driver: node main.js HOST PORT VERSION COMPRESSION, of which it knows 3 and 4, and none.
// The environment says the rest, as for every driver's program: ../README.md.
// Prints `ok NAME` or `not ok NAME: why` for each check; exits 0 when all passed.

const assert = require('assert');
const fs = require('fs');
const net = require('net');
const cassandra = require('cassandra-driver');
const typeChecks = require('./types.js');
const statementChecks = require('./statements.js');
const largeChecks = require('./large.js');
const schemaChecks = require('./schema.js');
const disturbedChecks = require('./disturbed.js');

const LIMIT_MS = 120000;

/** A client in a keyspace of its own, and short ways to ask. */
class Context {
  constructor(host, port, version) {
    this.version = version;
    this.keyspace = `node_v${version}`;
    this.options = {
      contactPoints: [`${host}:${port}`],
      localDataCenter: 'datacenter1',
      protocolOptions: { port, maxVersion: version },
      socketOptions: { readTimeout: 30000 },
      queryOptions: { consistency: cassandra.types.consistencies.one, prepare: true },
      encoding: { map: Map, set: Set, useBigIntAsLong: true, useBigIntAsVarint: true },
    };
    if (process.env.CHECK_CA) {
      this.options.sslOptions = { ca: [fs.readFileSync(process.env.CHECK_CA)], host, rejectUnauthorized: true };
    }
    if (process.env.CHECK_USER) {
      this.options.authProvider = new cassandra.auth.PlainTextAuthProvider(process.env.CHECK_USER, process.env.CHECK_PASSWORD);
    }
    this.tables = 0;
  }

  /** Another client, with connections of its own. */
  async connect(options) {
    const client = new cassandra.Client({ ...this.options, ...options });
    await client.connect();
    return client;
  }

  /** Has the harness pause, resume or restart the server; false where nobody can. */
  async control(word) {
    const port = Number(process.env.CHECK_CONTROL);
    if (!port) {
      return false;
    }
    const harness = net.connect(port, '127.0.0.1');
    harness.write(`${word}\n`);
    let said = '';
    for await (const data of harness) {
      said += data;
    }
    assert.strictEqual(said, '', word);
    return true;
  }

  async open() {
    this.client = new cassandra.Client(this.options);
    await this.client.connect();
    await this.run(`DROP KEYSPACE IF EXISTS ${this.keyspace}`);
    await this.run(
      `CREATE KEYSPACE ${this.keyspace} WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`);
    await this.client.shutdown();
    this.client = new cassandra.Client({ ...this.options, keyspace: this.keyspace });
    await this.client.connect();
  }

  async close() {
    await this.run(`DROP KEYSPACE ${this.keyspace}`);
    await this.client.shutdown();
  }

  run(cql, values, options) {
    return this.client.execute(cql, values, values ? options : { prepare: false, ...options });
  }

  /** The only row, as an array. */
  async row(cql, values) {
    const result = await this.run(cql, values);
    assert.strictEqual(result.rows.length, 1, `rows of ${cql}`);
    return result.rows[0].values();
  }

  async table(definition) {
    const name = `t${++this.tables}`;
    await this.run(`CREATE TABLE ${name} (${definition})`);
    return name;
  }
}

async function main() {
  const [host, port, version, compression] = process.argv.slice(2);
  if (!host || !Number(port) || !Number(version) || compression !== 'none') {
    console.error('usage: node main.js HOST PORT VERSION none');
    return 2;
  }
  const context = new Context(host, Number(port), Number(version));
  await context.open();
  let failed = 0;
  for (const checks of [typeChecks, statementChecks, largeChecks, schemaChecks, disturbedChecks]) {
    for (const [name, check] of Object.entries(checks)) {
      try {
        await check(context);
        console.log(`ok ${name}`);
      } catch (error) {
        failed++;
        console.log(`not ok ${name}: ${String(error.message).replace(/\s+/g, ' ')}`);
      }
    }
  }
  return failed === 0 ? 0 : 1;
}

setTimeout(() => {
  console.log(`not ok finish: no end within ${LIMIT_MS} ms`);
  process.exit(1);
}, LIMIT_MS).unref();

main().then(
  (status) => process.exit(status),
  (error) => {
    console.log(`not ok connect: ${error.message}`);
    process.exit(1);
  });
