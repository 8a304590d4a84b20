import { z } from 'zod';
import type { AttributionReport } from './attribution-report.ts';

const CausalDiagnostics = z.object({ delta_r_interval_cents: z.tuple([z.number(), z.number()]) });

/**
 * Interval of Delta_R in cents: noise alone makes some Delta_R, so it belongs beside it. Only the causal model gives
 * one, and every run has a causal model in its diagnostics: beside another model's Delta_R it would be a stranger's.
 */
export function deltaRInterval(report: AttributionReport): readonly [number, number] | null {
  if (report.model !== 'causal') return null;
  const parsed = CausalDiagnostics.safeParse(report.diagnostics.models['causal']);
  return parsed.success ? parsed.data.delta_r_interval_cents : null;
}
