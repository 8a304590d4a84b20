import type { QualityCheck } from '../../../../schema/contract/data-quality.ts';
import { roundHalfUp } from '../../../../schema/rounding.ts';
import type { ChannelTouches, StoredQuality } from './stored-quality.ts';
import type { UploadQuality } from './upload-quality.ts';

/** What the checks look at. Money in major units of `currency`. */
export interface QualityEvidence {
  readonly stored: StoredQuality;
  /** What came of the files that hold rows of the range, as far as no later file stands in for them. */
  readonly uploads: readonly UploadQuality[];
  /** Of the range, by channel. */
  readonly spend: ReadonlyMap<string, number>;
  /** First and last UTC day, both included. */
  readonly dateRange: readonly [string, string];
  readonly currency: string;
  /** Neither there without marketing nor owned by the shop. */
  readonly isPaid: (channel: string) => boolean;
}

/** A look at the evidence: what is wrong, or null where nothing is or too little is there to tell. */
export type Look = (evidence: QualityEvidence) => QualityCheck | null;

/** From how much a share of it says something: below, chance alone crosses the limits. */
export const LEAST = { orders: 50, touches: 500 } as const;

/** Limits of a value: beyond the first a warning, beyond the second blocking. */
export interface Limits {
  readonly warning: number;
  readonly blocking?: number;
}

interface Finding extends Pick<QualityCheck, 'code' | 'value' | 'message' | 'remedy'> {
  readonly amount: number | null;
  readonly currency: string | null;
}

/** A check whose value is too high, or null where it is within the limits. */
export function aboveLimit(limits: Limits, finding: Finding): QualityCheck | null {
  return crossed(limits, finding, (value, limit) => value > limit);
}

/** A check whose value is too low, or null where it is within the limits. */
export function belowLimit(limits: Limits, finding: Finding): QualityCheck | null {
  return crossed(limits, finding, (value, limit) => value < limit);
}

function crossed(
  { warning, blocking }: Limits,
  finding: Finding,
  isBeyond: (value: number, limit: number) => boolean,
): QualityCheck | null {
  if (blocking !== undefined && isBeyond(finding.value, blocking)) return checkOf('blocking', blocking, finding);
  return isBeyond(finding.value, warning) ? checkOf('warning', warning, finding) : null;
}

/** A check as it is published. */
export function checkOf(severity: QualityCheck['severity'], threshold: number, finding: Finding): QualityCheck {
  const { code, value, amount, currency, message, remedy } = finding;
  const money = amount === null ? null : roundHalfUp(amount, 2);
  return {
    code,
    severity,
    value: roundHalfUp(value, 4) ?? 0,
    threshold: roundHalfUp(threshold, 4) ?? 0,
    amount: money,
    currency: money === null ? null : currency,
    message,
    remedy,
  };
}

export const sumOf = <Row>(rows: Iterable<Row>, value: (row: Row) => number): number => {
  let sum = 0;
  for (const row of rows) sum += value(row);
  return sum;
};

export const touchesOf = (channels: readonly ChannelTouches[]): number => sumOf(channels, ({ touches }) => touches);

const MONEY = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const COUNT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const PERCENT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

/** Figures in sentences, alike on every machine. */
export const words = {
  money: (amount: number, currency: string): string => `${MONEY.format(amount)} ${currency}`,
  count: (value: number): string => COUNT.format(value),
  percent: (share: number): string => `${PERCENT.format(100 * share)} %`,
  /** The first five; a name from a file is shown as it stands there. */
  list: (names: readonly string[]): string =>
    names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${COUNT.format(names.length - 5)} more` : ''),
} as const;
