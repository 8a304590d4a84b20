import type { z } from 'zod';
import type { Frozen } from './contract/frozen.ts';
import type { trustEnvelope } from './contract/trust-envelope.ts';

/** The trust envelope (HREI) that every answer carries; all scores are risks in [0, 1], 0 is perfect trust. */
export type TrustEnvelope = Frozen<z.output<typeof trustEnvelope>>;
export type RiskLevel = TrustEnvelope['riskLevel'];
export type TrustClassification = TrustEnvelope['components']['taxonomy']['classifications'][number];

/** The five parts of the trust envelope's score. */
export const TRUST_COMPONENTS = [
  'detection',
  'attribution',
  'provenance',
  'consistency',
  'taxonomy',
] as const satisfies readonly (keyof TrustEnvelope['components'])[];
export type TrustComponent = (typeof TRUST_COMPONENTS)[number];

/** Weight of each component in `hreiScore`; they sum to 1. */
export type TrustWeights = Readonly<Record<TrustComponent, number>>;
