// Ends a tool (tests, compiler, command line) whose launcher was killed. Servers stop gracefully instead: parent-watch.ts.
if (process.channel !== undefined) {
  process.on('disconnect', () => process.exit(1));
  // Listening alone must not keep a finished tool alive.
  process.channel.unref();
}
