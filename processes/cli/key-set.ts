import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ProblemError } from '../../schema/problems.ts';
import type { SigningKeyStatus } from '../../services/trust/signing-key.ts';
import { parseJson } from '../../rest-adapter/parse-json.ts';
import { BadInputError } from './bad-input-error.ts';

const FETCH_TIMEOUT_MS = 15_000;

/** Keys of other kinds may stand in the set; they are not ours. */
const keySetSchema = z.object({ keys: z.array(z.record(z.string(), z.unknown())) });
const keySchema = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  kid: z.string(),
  'svc:status': z.enum(['next', 'retired', 'revoked']).optional(),
});

/** A key set (RFC 7517) in a file or at an address: our kind of keys, by name. @throws BadInputError */
export async function readKeys(
  place: string,
): Promise<ReadonlyMap<string, { readonly x: string; readonly status: SigningKeyStatus }>> {
  const bytes = /^https?:\/\//i.test(place) ? await fetched(place) : await bytesOf(place);
  const set = keySetSchema.safeParse(strictJson(bytes, place));
  if (!set.success)
    throw new BadInputError(
      `${place}: this is not a key set (RFC 7517). Give the service's /.well-known/jwks.json, or a copy of it.`,
    );
  const keys = set.data.keys.flatMap((key) => keySchema.safeParse(key).data ?? []);
  return new Map(keys.map(({ kid, x, 'svc:status': status }) => [kid, { x, status: status ?? 'current' }]));
}

/** @throws BadInputError */
export async function bytesOf(file: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    const reason =
      error.code === 'ENOENT'
        ? 'there is no such file. Check the path'
        : `it cannot be read (${error.code ?? error.message})`;
    throw new BadInputError(`${file}: ${reason}.`, { cause: error });
  });
}

async function fetched(address: string): Promise<Buffer> {
  try {
    const response = await fetch(address, {
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
      headers: { accept: 'application/json, application/jwk-set+json' },
    });
    if (response.ok) return Buffer.from(await response.arrayBuffer());
    throw new Error(`it was answered with ${response.status}`);
  } catch (error) {
    const cause = (error as Error).cause;
    throw new BadInputError(
      `${address}: the keys cannot be fetched: ${cause instanceof Error ? cause.message : (error as Error).message}.`,
      { cause: error },
    );
  }
}

/**
 * Strict, so that a person and this program read the same: a member that stands twice is refused. @throws BadInputError
 */
export function strictJson(bytes: Uint8Array, place: string): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    throw error instanceof ProblemError
      ? new BadInputError(`${place}: ${error.message.replace('The body', 'It')}`, { cause: error })
      : error;
  }
}
