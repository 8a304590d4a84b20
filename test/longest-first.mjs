// Jest's testSequencer: fault runs, which take the longest and mostly wait, begin first, and the rest fills the time
// beside them. Jest's own order goes by size where it knows no durations, and would begin them last.
import { createRequire } from 'node:module';

const { default: Sequencer } = createRequire(import.meta.resolve('jest'))('@jest/test-sequencer');
const isFaultRun = ({ path }) => path.includes('/test/faults/');

class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = Sequencer.prototype.sort.call(this, tests);
    return [...sorted.filter(isFaultRun), ...sorted.filter((test) => !isFaultRun(test))];
  }
}

export { LongestFirst as default };
