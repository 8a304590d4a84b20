// Ends a tool (tests, compiler, command line) whose launcher was killed. Servers stop gracefully instead:
// parent-watch.ts.
const LOOK_MS = 300;

if (process.channel !== undefined && process.env.JEST_WORKER_ID !== undefined) {
  // A worker of Jest inherits our options. Its channel is Jest's, which keeps it alive and ends it, and listening for
  // its end would keep it alive, too; a Jest that is interrupted leaves its workers at their tests.
  setInterval(() => process.connected || process.exit(1), LOOK_MS).unref();
} else if (process.channel !== undefined) {
  process.on('disconnect', () => process.exit(1));
  // Listening alone must not keep a finished tool alive.
  process.channel.unref();
}
