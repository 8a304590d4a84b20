import { bar, line, picture, text } from '../svg.ts';
import type { sampleExample } from '../worked-examples.ts';

type Sample = ReturnType<typeof sampleExample>;

const money = (amount: number): string => Math.round(amount).toLocaleString('en-US');
const paidOf = ({ channels, isBaseline, causal }: Sample): number[] =>
  Array.from(channels.keys())
    .filter((c) => isBaseline[c] !== 1)
    .toSorted((a, b) => causal.value[b]! - causal.value[a]!);

/** The causal credit of each paid channel with its interval, beside last click. */
export function causalCredit(sample: Sample): string {
  const { channels, causal } = sample;
  const paid = paidOf(sample);
  const most = 6_000;
  const x = (amount: number): number => 150 + (amount / most) * 540;
  const rows = paid.map((c, row) => {
    const y = 66 + row * 42;
    const low = x(causal.intervalLow[c]!);
    const high = x(Math.min(most, causal.intervalHigh[c]!));
    return (
      text(138, y + 15, channels[c]!, { anchor: 'end' }) +
      bar(150, y, x(causal.value[c]!) - 150, 14, 'teal') +
      bar(150, y + 16, x(causal.lastClickCents[c]! / 100) - 150, 8, 'sand') +
      line(low, y + 7, high, y + 7, 'ink', { width: 1.5 }) +
      line(low, y + 2, low, y + 12, 'ink', { width: 1.5 }) +
      line(high, y + 2, high, y + 12, 'ink', { width: 1.5 })
    );
  });
  const bottom = 66 + paid.length * 42;
  const ticks = [0, 1_000, 2_000, 3_000, 4_000, 5_000].map(
    (amount) =>
      line(x(amount), 54, x(amount), bottom, 'line') +
      text(x(amount), bottom + 18, money(amount), { size: 12, anchor: 'middle', ink: 'faint' }),
  );
  const legend =
    bar(150, 20, 12, 12, 'teal') +
    text(168, 31, 'causal, with its 95 % interval') +
    bar(390, 20, 12, 12, 'sand') +
    text(408, 31, 'last click');
  return picture(
    760,
    bottom + 34,
    'Causal credit of each paid channel of the sample with its interval, beside last click',
    [legend, ...ticks, ...rows],
  );
}

/** Causal credit minus last click per paid channel: the positive parts add up to Delta_R. */
export function recoveredRevenue(sample: Sample): string {
  const {
    channels,
    causal: { deltaR },
  } = sample;
  const paid = paidOf(sample).toSorted((a, b) => deltaR.deltaCents[b]! - deltaR.deltaCents[a]!);
  const most = 3_000;
  const x = (amount: number): number => 440 + (amount / most) * 280;
  const rows = paid.map((c, row) => {
    const y = 40 + row * 34;
    const delta = deltaR.deltaCents[c]! / 100;
    const up = delta > 0;
    return (
      text(24, y + 15, channels[c]!) +
      bar(up ? x(0) : x(delta), y, Math.abs(x(delta) - x(0)), 20, up ? 'teal' : 'grey') +
      text(up ? x(delta) + 8 : x(0) + 8, y + 15, `${up ? '+' : '−'}${money(Math.abs(delta))}`, {
        ink: up ? 'teal' : 'faint',
      })
    );
  });
  const bottom = 40 + paid.length * 34 + 10;
  return picture(
    760,
    bottom + 66,
    'Causal credit minus last click per paid channel of the sample; Delta_R is the sum of the positive differences',
    [
      line(x(0), 30, x(0), bottom, 'faint'),
      text(x(0) + 8, 24, 'hidden by last click', { ink: 'teal' }),
      text(x(0) - 8, 24, 'over-credited by last click', { anchor: 'end', ink: 'faint' }),
      ...rows,
      text(24, bottom + 26, `Delta_R ${money(deltaR.deltaRCents / 100)}`, { bold: true, ink: 'teal' }),
      text(150, bottom + 26, `95 % interval ${money(deltaR.lowCents / 100)} to ${money(deltaR.highCents / 100)}`, {
        ink: 'faint',
      }),
      text(24, bottom + 50, `Net ${money(deltaR.deltaRNetCents / 100).replace('-', '−')}`, { bold: true }),
      text(150, bottom + 50, 'signed sum over all paid channels', { ink: 'faint' }),
    ],
  );
}
