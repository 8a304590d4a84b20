import { ProblemError } from '../../../../schema/problems.ts';
import { areFiguresInRange, FIGURES_OUT_OF_RANGE } from './amount-range.ts';
import { isFinished, type RunFailure, type RunStatus } from '../../runs/run.ts';
import type { Attribution } from './attribution.ts';
import type { AnalysisFigures } from './figures.ts';

/** An analysis as readers are told of it. */
export interface Publication {
  readonly status: RunStatus;
  readonly figures: AnalysisFigures | null;
  readonly failure: RunFailure | null;
}

/** Of an analysis of which something was stored that this release cannot read. */
export const UNREADABLE: Publication = {
  status: 'failed',
  figures: null,
  failure: { code: 'internal', message: 'The stored figures of this analysis cannot be read. Run it again.' },
};

type Stored = Pick<Attribution, 'status' | 'result' | 'failure'>;

/**
 * The stored figures, where they can be shown. Runs of earlier releases were not checked for the range of their
 * amounts: what one of them left shows as the failure that it would be today, so that a page of analyses has all the
 * others.
 */
export function publicationOf({ status, result, failure }: Stored): Publication {
  const figures = result ?? null;
  if (figures === null) return { status, figures, failure: failure ?? null };
  const isReadable = typeof figures.revenueCents === 'number' && Array.isArray(figures.channels);
  if (isReadable && areFiguresInRange(figures)) return { status, figures, failure: failure ?? null };
  // While a refresh is under way, there is hope.
  if (status !== 'completed') return { status, figures: null, failure: null };
  return isReadable ? { status: 'failed', figures: null, failure: FIGURES_OUT_OF_RANGE } : UNREADABLE;
}

/**
 * The figures of an analysis for whoever can't do without.
 * @throws ProblemError `conflict` (not_ready) where it has none, or none yet
 */
export function requireFigures(attribution: Stored): AnalysisFigures {
  const { figures, failure } = publicationOf(attribution);
  if (figures !== null) return figures;
  const message = isFinished(attribution)
    ? `The analysis failed and has no figures: ${failure?.message ?? 'run it again.'}`
    : 'The analysis is under way and has no figures yet. Ask again when its status is completed.';
  throw new ProblemError('conflict', message, { code: 'not_ready' });
}
