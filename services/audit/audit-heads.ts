import {
  closeSync,
  createReadStream,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { calculateJwkThumbprint } from 'jose';
import { z } from 'zod';
import { jwsHeader, objectIn, signCompact, verifiedPayload } from '../trust/compact-jws.ts';
import type { CurrentKey } from '../trust/signing-key-store.ts';
import { chainName, type ChainHead } from './audit-entry.ts';
import { textLines } from './text-lines.ts';

/** Keeps a signature over a head from serving as one over something else, and the other way round. */
const TYPE = 'svc-audit-head+jwt';

/** What a signature says of a chain: at this moment it ended with this entry. */
const claimsSchema = z.object({
  /** Address of the service that signed, without `/v1`. */
  iss: z.string(),
  chain_id: z.string(),
  sequence: z.int().min(1),
  hash: z.string(),
  /** Seconds since the epoch. */
  iat: z.int(),
});
export type HeadClaims = z.output<typeof claimsSchema>;

const lineSchema = z.object({ chain_id: z.string(), sequence: z.int(), jws: z.string() });
type HeadLine = z.output<typeof lineSchema>;

/**
 * One line of the file: what it is about, so that it need not be opened to be found, and the signed head (compact JWS).
 */
export async function signedHeadLine(claims: HeadClaims, key: CurrentKey): Promise<string> {
  const line: HeadLine = {
    chain_id: claims.chain_id,
    sequence: claims.sequence,
    jws: await signCompact(TYPE, claims, key),
  };
  return JSON.stringify(line);
}

/** A public key of ours by its name, whatever became of it since; null for a stranger. */
export type FindHeadKey = (kid: string) => Promise<{ readonly x: string } | null>;

/** What a heads file says of one chain. */
export interface WitnessedHeads {
  /** Proven to be ours, in the order of their sequence. */
  readonly heads: readonly ChainHead[];
  /** Lines about this chain that no key of ours signed as they stand. */
  readonly unproven: number;
}

/**
 * The signed heads of all chains, one JSON line each, in a file that only grows and that whoever owns the database does
 * not own. Several processes may append to one file of a local disk.
 */
export class AuditHeadsFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Returns when the lines are on disk. A line that a crash cut off stays a line of its own. */
  append(lines: readonly string[]): void {
    const isNew = !existsSync(this.path);
    if (isNew) mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const file = openSync(this.path, 'a+', 0o600);
    try {
      const bytes = Buffer.from(`${endsInsideLine(file) ? '\n' : ''}${lines.join('\n')}\n`);
      for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (isNew) syncFolder(dirname(this.path));
  }

  /** What the file witnesses of a chain; nothing where there is no file. */
  async headsOf(chain: string, findKey: FindHeadKey): Promise<WitnessedHeads> {
    const heads: ChainHead[] = [];
    let unproven = 0;
    const name = chainName(chain);
    for await (const line of this.#lines(name)) {
      const claims = await provenClaims(line.jws, findKey);
      if (claims?.chain_id === name && claims.sequence === line.sequence)
        heads.push({ sequence: claims.sequence, hash: claims.hash });
      else unproven += 1;
    }
    return { heads: heads.toSorted((one, other) => one.sequence - other.sequence), unproven };
  }

  /** The last head of every chain by the chain's name, as the lines stand: unproven. */
  async lastHeads(): Promise<Map<string, ChainHead>> {
    const last = new Map<string, ChainHead>();
    for await (const { jws } of this.#lines('')) {
      const claims = claimsSchema.safeParse(objectIn(Buffer.from(jws.split('.')[1] ?? '', 'base64url'))).data;
      if (claims !== undefined && claims.sequence >= (last.get(claims.chain_id)?.sequence ?? 0))
        last.set(claims.chain_id, { sequence: claims.sequence, hash: claims.hash });
    }
    return last;
  }

  /** Lines about one chain, or about any with an empty name. What a crash left of a line says nothing. */
  async *#lines(name: string): AsyncGenerator<HeadLine> {
    if (!existsSync(this.path)) return;
    for await (const text of textLines(createReadStream(this.path))) {
      if (!text.includes(name)) continue;
      const line = lineSchema.safeParse(objectIn(Buffer.from(text))).data;
      if (line !== undefined && (name === '' || line.chain_id === name)) yield line;
    }
  }
}

/** Null unless a key that is found under its own name signed it. */
async function provenClaims(jws: string, findKey: FindHeadKey): Promise<HeadClaims | null> {
  const kid = jwsHeader(jws)?.kid ?? null;
  const key = kid === null ? null : await findKey(kid);
  // The name of a key is made from the key (RFC 7638): whoever owns the table of keys can't put another under it.
  if (kid === null || key === null || (await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x: key.x })) !== kid)
    return null;
  const verified = await verifiedPayload(jws, key.x);
  return verified?.type === TYPE ? (claimsSchema.safeParse(objectIn(verified.payload)).data ?? null) : null;
}

function endsInsideLine(file: number): boolean {
  const { size } = fstatSync(file);
  const last = Buffer.alloc(1);
  return size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
}

/** The name of a new file is on disk only when its folder is. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
