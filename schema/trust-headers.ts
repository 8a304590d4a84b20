import type { RiskLevel } from './trust-envelope.ts';

/**
 * What headers say of an answer's trust, at every door: nothing where the envelope is null, since it was not measured;
 * no risk where there is none, since the answer repeats what is on record.
 */
export function trustHeaders(
  trust: { readonly hreiScore: number; readonly riskLevel: RiskLevel } | null | undefined,
): Record<string, string> {
  if (trust === null) return {};
  return {
    'SVC-HREI-Score': (trust?.hreiScore ?? 0).toFixed(2),
    'SVC-HREI-Risk': trust?.riskLevel ?? 'minimal',
  };
}
