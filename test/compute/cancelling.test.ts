import { runTask } from '../../compute/tasks.ts';
import { heavyTasks } from '../../bench/compute/heavy-tasks.ts';

/** What a cancelled task may still work, CPU time of its thread (reliability bars of the contract). */
const BAR_MS = 200;
/** Many channels, where single steps are long; what grows with the number of events is for the benchmark. */
const TASKS = [...heavyTasks(45_000, 60, [1]), ...heavyTasks(20_000, 200, [1])];

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** The longest that a task works without looking at its flag. */
function longestStepMs(name: (typeof TASKS)[number][1], input: (typeof TASKS)[number][2]): number {
  let [last, longest] = [cpuMs(), 0];
  const throwIfCancelled = (): void => {
    const now = cpuMs();
    [longest, last] = [Math.max(longest, now - last), now];
  };
  expect(runTask(name, input, throwIfCancelled).ok).toBe(true);
  throwIfCancelled();
  return longest;
}

describe('a task looks at its cancel flag', () => {
  test.each(TASKS)('%s: at least every fifth of a second', (_label, name, input) => {
    // A step that is long is long each time; a neighbour on the core is in the way of some.
    let longest = Infinity;
    for (let times = 0; times < 3 && longest >= BAR_MS; times += 1)
      longest = Math.min(longest, longestStepMs(name, input));
    expect(longest).toBeLessThan(BAR_MS);
  });
});
