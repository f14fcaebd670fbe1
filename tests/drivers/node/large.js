'use strict';
// Messages that are large, and those whose size is just what a segment of v5 holds.

const assert = require('assert');

const SEGMENT = 131071;

function blob(k, size) {
  const value = Buffer.alloc(size);
  for (let i = 0; i < size; i++) {
    value[i] = (i * 7 + k) % 251;
  }
  return value;
}

async function thereAndBack(context, sizes) {
  const table = await context.table('k int PRIMARY KEY, b blob');
  for (const size of sizes) {
    await context.run(`INSERT INTO ${table} (k, b) VALUES (?, ?)`, [size, blob(size, size)]);
    const [got] = await context.row(`SELECT b FROM ${table} WHERE k = ?`, [size]);
    assert.ok(got.equals(blob(size, size)), `a cell of ${size} bytes came back otherwise`);
  }
}

exports.a_large_cell = (context) => thereAndBack(context, [0, 1, 300000, 3 << 20]);

// What surrounds the cell takes some dozens of bytes: one of these requests, and one of these answers, has exactly
// 131071 bytes, and the next 131072.
exports.messages_around_the_size_of_a_segment = (context) =>
  thereAndBack(context, [SEGMENT, SEGMENT + 1, ...Array.from({ length: 110 }, (_, n) => SEGMENT - 130 + n)]);

exports.a_page_of_200_kb = async (context) => {
  const table = await context.table('p int, c int, t text, PRIMARY KEY (p, c)');
  const text = (c) => String(c).padStart(4, '0').repeat(100);
  for (let c = 0; c < 500; c++) {
    await context.run(`INSERT INTO ${table} (p, c, t) VALUES (1, ?, ?)`, [c, text(c)]);
  }
  const page = await context.run(`SELECT c, t FROM ${table} WHERE p = 1`, [], { prepare: true, fetchSize: 500 });
  assert.strictEqual(page.rows.length, 500);
  page.rows.forEach((row, c) => assert.deepStrictEqual([row.c, row.t], [c, text(c)]));
};
