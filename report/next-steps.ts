import { DECISIVE_QUALITY_CODES } from '../schema/value-lists.ts';
import type { AttributionReport, ReportedChannel, ReportedDesign } from './attribution-report.ts';
import { isJudged } from './judgement.ts';
import { numberFormat } from './number-format.ts';
import type { Verdict } from './verdicts.ts';

/**
 * What to do next about a channel: mend the rows, look at it with the causal model, test it, move its spend, upload its
 * spend, or leave it.
 */
export type StepKind = 'mend' | 'analyse' | 'test' | 'raise' | 'lower' | 'stop' | 'price' | 'leave';

export interface NextStep {
  readonly kind: StepKind;
  readonly text: string;
}

/** The best next step for a paid channel: bad rows come first, and money moves only where the verdict lets it. */
export function nextStep(report: AttributionReport, channel: ReportedChannel, verdict: Verdict): NextStep {
  const check = worstCheck(report);
  if (check !== undefined) return { kind: 'mend', text: `Mend the rows first: ${check.remedy}` };
  if (!isJudged(report)) return unjudged(report);
  const failed = failedTest(report, channel.channel);
  const test = testOf(report, channel.channel);
  switch (verdict) {
    case 'harms':
      return failed
        ? (test ?? doubted('harm'))
        : { kind: 'stop', text: 'Stop it for a while, best for a random part of the people, and compare.' };
    case 'loses':
      return failed
        ? (test ?? doubted('loss'))
        : { kind: 'lower', text: 'Lower its spend in steps: even the upper end of the interval is below break-even.' };
    case 'pays':
      return failed
        ? (test ?? doubted('gain'))
        : {
            kind: 'raise',
            text: 'Raise its spend in small steps and look again: what the next unit earns is not in these figures.',
          };
    case 'adds':
      return { kind: 'price', text: 'Upload what it costs: without spend nothing says whether it pays.' };
    default:
      return test ?? withoutTest(report, channel);
  }
}

/** The check that makes any answer doubtful; what is merely noteworthy does not come before a channel's own step. */
function worstCheck({ data_quality: quality }: AttributionReport) {
  const decisive: readonly string[] = DECISIVE_QUALITY_CODES;
  const checks = quality?.checks ?? [];
  return (
    checks.find(({ severity }) => severity === 'blocking') ??
    checks.find(({ severity, code }) => severity === 'warning' && decisive.includes(code))
  );
}

const unjudged = ({ model }: AttributionReport): NextStep =>
  model === 'causal'
    ? {
        kind: 'mend',
        text: 'Upload touchpoints of single people with their times, unpaid visits too: then effects can be measured.',
      }
    : { kind: 'analyse', text: 'Ask for the causal model: its intervals are made to judge by.' };

const doubted = (what: string): NextStep => ({
  kind: 'leave',
  text: `Leave its spend as it is: a test of these figures failed, so that the ${what} is not sure.`,
});

/** A failed test of a placebo concerns all paid channels. */
function failedTest({ diagnostics }: AttributionReport, name: string): boolean {
  return (diagnostics.tests ?? []).some(
    ({ code, status, channel }) =>
      status === 'fail' && (code === 'held_out_placebo' || channel === null || channel === name),
  );
}

/** The holdout that is worth more than it costs. */
function testOf(
  { experiment_designs: found, currency, profitability }: AttributionReport,
  name: string,
): NextStep | null {
  const design = designFor(found?.designs ?? [], name);
  if (design === undefined || !(design.decision.value_of_information > 0)) return null;
  const format = numberFormat(currency);
  const worth = format.money(design.decision.value_of_information);
  return {
    kind: 'test',
    text:
      `Keep a random ${format.percent(design.share_held_out)} of the people from it for ` +
      `${design.duration_days} days. That is expected to lose ${format.money(design.lost_revenue)}` +
      (profitability === undefined
        ? `, and deciding by it to be worth ${worth} more than that in a year.`
        : ` of revenue, and deciding by it to be worth ${worth} of profit in a year, what is lost taken off.`),
  };
}

const designFor = (designs: readonly ReportedDesign[], name: string): ReportedDesign | undefined =>
  designs.find(({ channels }) => channels.length === 1 && channels[0] === name);

function withoutTest(
  { experiment_designs: found }: AttributionReport,
  { channel, identification }: ReportedChannel,
): NextStep {
  const reasons = new Set(identification?.reasons.map(({ code }) => code));
  if (reasons.has('untracked_spend'))
    return {
      kind: 'test',
      text: 'Run it in some places and not in others: it leaves no touches, so nobody can be kept away from it.',
    };
  if (designFor(found?.designs ?? [], channel) !== undefined)
    return { kind: 'leave', text: 'Leave its spend as it is: a holdout would cost more than it tells.' };
  return {
    kind: 'leave',
    text: 'Leave its spend as it is until more is known: no holdout can be planned from these rows.',
  };
}
