import type { SimulatedShop, Truth } from '../simulator.ts';

const BOUNDS: readonly number[] = [0, 0.3, 1, 2, 5];

/** Ranks of values, 0 for the smallest. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((_, n) => n).toSorted((a, b) => values[a]! - values[b]!);
  const ranked = values.map(() => 0);
  order.forEach((n, rank) => {
    ranked[n] = rank;
  });
  return ranked;
}

/** Pearson's. */
export function correlation(x: readonly number[], y: readonly number[]): number {
  const mean = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0) / values.length;
  const [mx, my] = [mean(x), mean(y)];
  const of = (a: readonly number[], ma: number, b: readonly number[], mb: number): number =>
    mean(a.map((value, n) => (value - ma) * (b[n]! - mb)));
  return of(x, mx, y, my) / Math.sqrt(of(x, mx, x, mx) * of(y, my, y, my));
}

/** True returns of all channels, and how far spend tells effects within a shop. */
export class Returns {
  private readonly values: number[] = [];
  private readonly correlations: number[] = [];
  private readonly spentRanks: number[] = [];
  private readonly truthRanks: number[] = [];

  add(shop: SimulatedShop, { switchOff }: Truth, spent: readonly number[]): void {
    if (shop.traits.includes('nothing_works')) return;
    const paid = shop.channels.map((_, c) => c).filter((c) => shop.channels[c]!.paid);
    for (const c of paid) this.values.push(switchOff[c]!.revenue / spent[c]!);
    const ofSpent = ranks(paid.map((c) => spent[c]!));
    const ofTruth = ranks(paid.map((c) => switchOff[c]!.revenue));
    this.correlations.push(correlation(ofSpent, ofTruth));
    const most = paid.length - 1;
    this.spentRanks.push(...ofSpent.map((rank) => rank / most - 0.5));
    this.truthRanks.push(...ofTruth.map((rank) => rank / most - 0.5));
  }

  print(): void {
    if (this.values.length === 0) return;
    const sorted = this.values.toSorted((a, b) => a - b);
    const share = (from: number, to: number): string =>
      `${((100 * sorted.filter((value) => value >= from && value < to).length) / sorted.length).toFixed(0)} %`;
    const bands = [-Infinity, ...BOUNDS].map((from, n) => {
      const to = BOUNDS[n] ?? Infinity;
      return `${from} … ${to}: ${share(from, to)}`;
    });
    console.log(`\nTrue returns of ${sorted.length} channels where something works: ${bands.join(', ')}`);
    const quantile = (part: number): string => sorted[Math.floor(part * sorted.length)]!.toFixed(2);
    console.log(`  quantiles 5, 25, 50, 75, 95 %: ${[0.05, 0.25, 0.5, 0.75, 0.95].map(quantile).join(', ')}`);
    const median = this.correlations.toSorted((a, b) => a - b)[Math.floor(this.correlations.length / 2)]!;
    console.log(
      `  ranks of spend and effect within a shop: correlation ` +
        `${correlation(this.spentRanks, this.truthRanks).toFixed(2)} pooled, ${median.toFixed(2)} in the median shop`,
    );
  }
}
