import type { DataQuality, QualityCheck, QualityCode } from '../../../../schema/contract/data-quality.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import { DECISIVE_QUALITY_CODES } from '../../../../schema/value-lists.ts';
import { RunFailedError } from '../../runs/run-failed-error.ts';
import type { Credit } from './compose-figures.ts';

const DECISIVE: ReadonlySet<QualityCode> = new Set(DECISIVE_QUALITY_CODES);
const WARNED = 0.5;

/** Blocking checks that whoever asks has not accepted. */
export function refusals(quality: DataQuality | undefined, accepted: readonly QualityCode[] = []): QualityCheck[] {
  return (quality?.checks ?? []).filter(({ severity, code }) => severity === 'blocking' && !accepted.includes(code));
}

/** @throws RunFailedError `data_quality_insufficient` */
export function assertGoodEnough(quality: DataQuality | undefined, accepted?: readonly QualityCode[]): void {
  const refused = refusals(quality, accepted);
  if (refused.length > 0)
    throw new RunFailedError({
      code: 'data_quality_insufficient',
      message: `${sentenceOf(refused)} To go on all the same, ask again with ${acceptanceOf(refused)}.`,
    });
}

/** @throws ProblemError `validation_error`, code `data_quality_insufficient`, with all that was found */
export function refuseBlocking(
  quality: DataQuality,
  accepted?: readonly QualityCode[],
  param = '/data_source_id',
): void {
  const refused = refusals(quality, accepted);
  if (refused.length > 0)
    throw new ProblemError(
      'validation_error',
      `${sentenceOf(refused)} To go on all the same, name what you accept: ${acceptanceOf(refused)}.`,
      {
        code: 'data_quality_insufficient',
        param,
        dataQuality: quality.checks.map((check) => ({ ...check })),
      },
    );
}

/** What is wrong, and what to do about it. */
export const sentenceOf = (refused: readonly QualityCheck[]): string =>
  [
    'The rows are not good enough for an answer.',
    ...refused.map(({ message }) => message),
    ...new Set(refused.map(({ remedy }) => remedy)),
  ].join(' ');

/** How either door is told. */
function acceptanceOf(refused: readonly QualityCheck[]): string {
  const codes = refused.map(({ code }) => code);
  const names = codes.map((code) => code.toUpperCase()).join(', ');
  return `accept_quality: ${JSON.stringify(codes)} (acceptQuality: [${names}] in GraphQL)`;
}

/**
 * The least risk of an answer whose rows are known to be bad: 1 where something blocking was accepted, half where money
 * went astray.
 */
export function qualityRisk(quality: DataQuality | undefined): number {
  const checks = quality?.checks ?? [];
  if (checks.some(({ severity }) => severity === 'blocking')) return 1;
  return checks.some(({ code, severity }) => severity === 'warning' && DECISIVE.has(code)) ? WARNED : 0;
}

/** Whether something blocking was accepted: then credit goes to whom the rows happen to show. */
export const isMisleading = (quality: DataQuality | undefined): boolean => qualityRisk(quality) === 1;

/**
 * Credit as sure as the part of the money that the rows show: what is missing may be anybody's. Of several causes the
 * largest counts, since they mostly concern the same orders. Baseline channels are credited nothing without doubt.
 */
export function asSureAsTheRows(credit: Credit, quality: DataQuality | undefined): Credit {
  const seen = Math.min(1, ...(quality?.checks ?? []).map(shareSeen));
  if (seen === 1) return credit;
  const times = (confidence: number | null): number | null => (confidence === null ? null : confidence * seen);
  return {
    ...credit,
    confidence: times(credit.confidence),
    channels: credit.channels.map((channel) =>
      channel.isBaseline ? channel : { ...channel, confidence: times(channel.confidence) },
    ),
  };
}

function shareSeen({ code, value }: QualityCheck): number {
  if (!DECISIVE.has(code)) return 1;
  return code === 'order_match_rate' || code === 'user_match_rate' ? value : 1 - value;
}
