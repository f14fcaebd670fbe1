'use strict';
const { spawn } = require('child_process');
const { once } = require('events');
const { createInterface } = require('readline');

/** Starts a server: its address as host:port, and a way to end it. */
exports.start = async () => {
  const server = spawn('helenus', ['serve', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [ready] = await once(createInterface(server.stdout), 'line');
  return { address: ready.split(' ')[2], stop: () => server.kill() };
};
