// Holds the given data directory until it is killed, or says why it cannot.
import '../../processes/typescript-hook.mjs';

const { holdDataDirectory } = await import('../../processes/data-directory.ts');
try {
  holdDataDirectory(process.argv[2]);
  process.send('held');
  setInterval(() => {}, 1_000);
} catch (error) {
  process.send(error.message);
  process.disconnect();
}
