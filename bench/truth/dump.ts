/**
 * Writes one world for use outside: `npm run bench truth/dump WORLD FOLDER` Raw little-endian columns of the event
 * table (userStart, userHash: uint32; timeS, value: float64; channel: uint16; conversion: uint8) and truth.json:
 * channels, which of them are paid, window, spec, truth. Without arguments it lists the worlds.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_S } from '../../compute/run-options.ts';
import { simulateWorld, WORLD_START_S } from './simulate-world.ts';
import { everyWorld } from './worlds.ts';

const [name, folder] = process.argv.slice(2);
const worlds = everyWorld();
const spec = worlds.find((world) => world.name === name)?.spec();
if (spec === undefined || folder === undefined) {
  console.error(
    `Usage: npm run bench truth/dump WORLD FOLDER\nWorlds: ${worlds.map((world) => world.name).join(', ')}`,
  );
  process.exitCode = 2;
} else {
  const { events, truth } = simulateWorld(spec);
  mkdirSync(folder, { recursive: true });
  for (const column of ['userStart', 'userHash', 'timeS', 'channel', 'conversion', 'value'] as const) {
    const { buffer, byteOffset, byteLength } = events[column];
    writeFileSync(join(folder, `${column}.bin`), Buffer.from(new Uint8Array(buffer, byteOffset, byteLength)));
  }
  const description = {
    channels: events.channels,
    isBaseline: spec.channels.map(({ paid }) => Number(!paid)),
    users: events.userHash.length,
    events: events.timeS.length,
    rangeStartS: WORLD_START_S,
    rangeEndS: WORLD_START_S + spec.days * DAY_S,
    truth,
    spec,
  };
  // Infinity has no place in JSON: a saturation that never comes is null.
  writeFileSync(join(folder, 'truth.json'), `${JSON.stringify(description, null, 2)}\n`);
}
