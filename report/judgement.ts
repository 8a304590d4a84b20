import type { AttributionReport } from './attribution-report.ts';

type Told = Pick<AttributionReport, 'model' | 'methodology'>;

/**
 * Whether the credit is what marketing changed. The path models share out all that happened; so does the causal model
 * where PRAV could not run and published weights combine the path models (`prior-weights`).
 */
export function isIncremental({ model, methodology }: Told): boolean {
  return model === 'prav' || (model === 'causal' && !methodology.split('/').includes('prior-weights'));
}

/**
 * Whether verdicts may be drawn from the intervals. Those of PRAV alone allow for chance and for its placebos, and not
 * for what nobody knows of a shop: verdicts drawn from them were false in a third of the cases on simulated shops.
 */
export function isJudged(report: Told): boolean {
  return report.model === 'causal' && isIncremental(report);
}

/** Whether the rows are good enough for any answer; what is blocking was accepted by whoever asked. */
export function isSound({ data_quality: quality }: Pick<AttributionReport, 'data_quality'>): boolean {
  return quality?.status !== 'blocking';
}
