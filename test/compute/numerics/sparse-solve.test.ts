import { solveDense } from '../../../compute/numerics/linear-solve.ts';
import { seededRandom } from '../../../compute/numerics/random.ts';
import { reversed, SolvingBudget, solveVisits, sweepOrder } from '../../../compute/numerics/sparse-solve.ts';
import type { SparseChain } from '../../../compute/numerics/sparse-solve.ts';
import { relativeDifference } from '../closeness.ts';

/** Each state leads to a few others and is absorbed with probability `exit`; the halves are hardly connected. */
function chainOf(size: number, exit: number, crossing: number): SparseChain & { readonly dense: Float64Array } {
  const random = seededRandom(size);
  const dense = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    const half = i < size / 2 ? 0 : size / 2;
    for (let edge = 0; edge < 4; edge++) {
      const home = random() >= crossing;
      const j = Math.floor(random() * (size / 2)) + (home ? half : size / 2 - half);
      if (j !== i) dense[i * size + j]! += (1 - exit) / 4;
    }
  }
  const into = new Int32Array(size + 1);
  const from: number[] = [];
  const probability: number[] = [];
  for (let j = 0; j < size; j++) {
    for (let i = 0; i < size; i++) {
      if (dense[i * size + j] === 0) continue;
      from.push(i);
      probability.push(dense[i * size + j]!);
    }
    into[j + 1] = from.length;
  }
  return {
    size,
    into,
    from: Int32Array.from(from),
    probability: Float64Array.from(probability),
    group: Uint8Array.from({ length: size }, (_, i) => i % 7),
    groups: 7,
    dense,
  };
}

describe('expected visits of a sparse chain', () => {
  test.each([
    [0.3, 0.5],
    [0.01, 0.1],
    [0.0005, 0.001],
  ])('exit probability %d, crossing %d: equals the dense solve', (exit, crossing) => {
    const chain = chainOf(120, exit, crossing);
    const start = Float64Array.from({ length: 120 }, (_, i) => Number(i % 3 === 0) / 40);
    const off = Uint8Array.from({ length: 120 }, (_, i) => Number(i % 10 === 4));
    const visits = start.slice();
    const outcome = solveVisits(chain, start, off, visits);
    expect(outcome.converged).toBe(true);
    const system = Float64Array.from({ length: 120 * 120 }, (_, e) => {
      const [row, column] = [Math.floor(e / 120), e % 120];
      return Number(row === column) - (off[row] === 1 || off[column] === 1 ? 0 : chain.dense[column * 120 + row]!);
    });
    const expected = solveDense(
      system,
      start.map((s, i) => (off[i] === 1 ? 0 : s)),
    )!;
    expect(relativeDifference(visits, expected)).toBeLessThan(1e-9);
  });

  test('groups with nothing in them do no harm', () => {
    const chain = { ...chainOf(40, 0.1, 0.3), groups: 60 };
    const start = new Float64Array(40).fill(1 / 40);
    const visits = start.slice();
    expect(solveVisits(chain, start, new Uint8Array(40), visits).converged).toBe(true);
    // What enters the chain must leave it.
    const leaving = visits.reduce(
      (sum, visit, i) => sum + visit * (1 - chain.dense.slice(i * 40, (i + 1) * 40).reduce((row, p) => row + p, 0)),
      0,
    );
    expect(leaving).toBeCloseTo(1, 12);
  });

  test('an order of sweeps puts every state behind those that lead to it, where there are no loops', () => {
    const size = 200;
    const random = seededRandom(5);
    const rank = Array.from({ length: size }, (_, i) => i).toSorted(() => random() - 0.5);
    const before = Array.from({ length: size }, (_, j) =>
      [0, 1, 2].map(() => Math.floor(random() * size)).filter((i) => rank[i]! < rank[j]!),
    );
    const into = Int32Array.from([0, ...before.map((_, j) => before.slice(0, j + 1).flat().length)]);
    const order = sweepOrder({ size, into, from: Int32Array.from(before.flat()) });
    expect([...order].toSorted((a, b) => a - b)).toEqual(Array.from({ length: size }, (_, i) => i));
    before.forEach((states, j) => states.forEach((i) => expect(order.indexOf(i)).toBeLessThan(order.indexOf(j))));
  });

  test('the chain turned around has the same solution from the other end', () => {
    const chain = chainOf(120, 0.05, 0.2);
    const [start, reward] = [
      new Float64Array(120).fill(1 / 120),
      Float64Array.from({ length: 120 }, (_, i) => Number(i % 5 === 0)),
    ];
    const [visits, hope] = [start.slice(), reward.slice()];
    expect(solveVisits(chain, start, new Uint8Array(120), visits).converged).toBe(true);
    expect(solveVisits(reversed(chain), reward, new Uint8Array(120), hope).converged).toBe(true);
    const sum = (a: Float64Array, b: Float64Array): number => a.reduce((all, each, i) => all + each * b[i]!, 0);
    expect(sum(start, hope)).toBeCloseTo(sum(visits, reward), 10);
  });

  test('a budget ends a solution, and the next ones at once', () => {
    const chain = chainOf(120, 0.0005, 0.001);
    const start = new Float64Array(120).fill(1 / 120);
    const budget = new SolvingBudget(3 * (chain.size + chain.from.length));
    const solve = () => solveVisits(chain, start, new Uint8Array(120), start.slice(), { budget });
    expect(solve()).toMatchObject({ converged: false });
    expect(budget.isSpent).toBe(true);
    expect(solve()).toEqual({ sweeps: 1, converged: false });
    expect(
      solveVisits(chain, start, new Uint8Array(120), start.slice(), { budget: new SolvingBudget(1e9) }).converged,
    ).toBe(true);
  });
});
