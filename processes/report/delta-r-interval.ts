import { z } from 'zod';
import type { AttributionReport } from './attribution-report.ts';

const CausalDiagnostics = z.object({ delta_r_interval_cents: z.tuple([z.number(), z.number()]) });

/** Interval of Delta_R in cents, where the causal model gave one: noise alone makes some Delta_R, so it belongs beside it. */
export function deltaRInterval(report: AttributionReport): readonly [number, number] | null {
  const parsed = CausalDiagnostics.safeParse(report.diagnostics.models['causal']);
  return parsed.success ? parsed.data.delta_r_interval_cents : null;
}
