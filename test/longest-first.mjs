// Jest's testSequencer: fault runs take the longest and wait for much of it. They begin early, each among other files
// that keep the processors busy, so that never more than a few run side by side: each is several processes, and counts
// on leases of seconds. Jest's own order goes by size where it knows no durations, and would begin them all together or
// last.
import { createRequire } from 'node:module';

const { default: Sequencer } = createRequire(import.meta.resolve('jest'))('@jest/test-sequencer');
/** Among so many other files each: they take a worker about as long as the fault run takes another. */
const OTHERS = 10;
/** The longest come first. */
const LONGEST = ['fuzz', 'day-of-a-shop', 'random-kills', 'workers', 'refresh'];

class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = Sequencer.prototype.sort.call(this, tests);
    const faultRuns = sorted.filter(isFaultRun).toSorted((one, other) => placeOf(one) - placeOf(other));
    const others = sorted.filter((test) => !isFaultRun(test));
    return [...faultRuns.flatMap((faultRun) => [faultRun, ...others.splice(0, OTHERS)]), ...others];
  }
}

function isFaultRun({ path }) {
  return path.includes('/test/faults/');
}

function placeOf({ path }) {
  const place = LONGEST.findIndex((name) => path.includes(`/${name}.`));
  return place < 0 ? LONGEST.length : place;
}

export { LongestFirst as default };
