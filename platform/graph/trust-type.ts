import { trustEnvelope } from '../../schema/contract/trust-envelope.ts';
import { objectTypeOf } from './contract-types.ts';

/** The envelope of every answer as the graph shows it; the features share the one type. */
export const TrustEnvelope = objectTypeOf(trustEnvelope);
