// Ends a tool (tests, compiler, command line) whose launcher was killed. Servers stop gracefully instead: parent-watch.ts.
// A worker of Jest inherits our options, but its channel is Jest's, which keeps it alive and ends it.
if (process.channel !== undefined && process.env.JEST_WORKER_ID === undefined) {
  process.on('disconnect', () => process.exit(1));
  // Listening alone must not keep a finished tool alive.
  process.channel.unref();
}
