import { z } from 'zod';
import { ENVIRONMENTS } from '../../schema/value-lists.ts';
import { SIGNATURE_REASONS } from '../../services/trust/signed-result.ts';
import type { Json } from '../operation.ts';
import { exampleAttribution } from './attribution-result.ts';
import { exampleTrust, trustEnvelope } from './trust-envelope.ts';

/** What came of checking a signed result (decisions: `POST /verify`). */
export const resultVerification = z
  .object({
    valid: z.boolean(),
    signature_valid: z.boolean().meta({ description: 'Whether a published key made the signature over exactly this payload' }),
    digest_match: z.boolean().nullable().meta({ description: 'Whether the result given is the one that was signed; null when none was given' }),
    reason: z.enum(SIGNATURE_REASONS).nullable().meta({ description: 'Null when valid' }),
    algorithm: z.string(),
    key_id: z.string().nullable(),
    issuer: z.string().nullable(),
    subject: z.object({ type: z.literal('attribution_result'), id: z.string(), revision: z.int() }).nullable(),
    signed_at: z.iso.datetime().nullable(),
    environment: z.enum(ENVIRONMENTS).nullable(),
    payload: z.record(z.string(), z.unknown()).nullable().meta({ description: 'The claims of the signature; null unless the signature is right' }),
    verified_at: z.iso.datetime(),
    trust: trustEnvelope,
  })
  .meta({ id: 'ResultVerification' });

const ISSUER = 'https://api.example';

/** The check of the result that the documentation shows. */
export const exampleVerification: Json = {
  valid: true,
  signature_valid: true,
  digest_match: null,
  reason: null,
  algorithm: 'EdDSA',
  key_id: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  issuer: ISSUER,
  subject: { type: 'attribution_result', id: exampleAttribution['id'], revision: 1 },
  signed_at: '2026-02-01T09:30:00.000Z',
  environment: 'live',
  payload: {
    iss: ISSUER, sub: exampleAttribution['id'], iat: 1_769_938_200, jti: '3f0c9a52-7d1e-4b8a-9c46-58f2d1a7e603', revision: 1, delta_r_cents: 1_872_970,
    digest: 'sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',
  },
  verified_at: '2026-02-01T10:00:00.000Z',
  trust: exampleTrust(1),
};
