import { restForm } from '../../schema/contract/rest-form.ts';
import { trustEnvelope as contractEnvelope } from '../../schema/contract/trust-envelope.ts';
import { type TrustEnvelope } from '../../schema/trust-envelope.ts';
import { recordEnvelope } from '../../services/trust/envelope.ts';
import type { Json } from '../operation.ts';
import { roundHalfUp } from '../../schema/rounding.ts';
import { snakeCase } from '../../schema/rest-shape.ts';
import { CURRENT_VERSION } from '../versions.ts';

/** The HREI envelope of an answer. */
export const trustEnvelope = restForm(contractEnvelope);

/** The envelope as REST writes it, for answers that do not come from the graph. */
export function presentTrust(envelope: TrustEnvelope): Json {
  return snakeMembers({
    ...envelope,
    hreiScore: roundHalfUp(envelope.hreiScore, 2),
    metadata: { ...envelope.metadata, evaluatedAt: envelope.metadata.evaluatedAt.toISOString() },
  });
}

function snakeMembers(value: object): Json {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      snakeCase(name),
      typeof member === 'object' && member !== null && !Array.isArray(member) ? snakeMembers(member as object) : member,
    ]),
  );
}

/** The envelope of `records` stored records, for the examples of the documentation. */
export function exampleTrust(records: number): Json {
  return presentTrust(recordEnvelope(records, new Date('2026-02-01T09:30:00.000Z'), CURRENT_VERSION));
}
