import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** What only the processes of one deployment know. */
export interface Secrets {
  /** Keys the lookup values of API keys, so that a stolen database finds no key by guessing. */
  readonly keyPepper: Buffer;
  /** Signs the principals that the gateway hands to subgraphs. */
  readonly internalSecret: string;
}

const stored = z.object({ keyPepper: z.string().regex(/^[0-9a-f]{64}$/), internalSecret: z.string().min(32) });

/**
 * The secrets of this data directory, made at the first start. The file must be readable by its owner alone.
 * @throws Error when the file is readable by others or damaged.
 */
export function loadSecrets(dataDir: string): Secrets {
  const file = join(dataDir, 'secrets.json');
  if (!existsSync(file)) writeNew(file);
  if ((statSync(file).mode & 0o077) !== 0) throw new Error(`${file} can be read by others. Run: chmod 600 ${file}`);
  const parsed = stored.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!parsed.success) throw new Error(`${file} is damaged. Restore it from a backup: without it no API key can be found.`);
  return { keyPepper: Buffer.from(parsed.data.keyPepper, 'hex'), internalSecret: parsed.data.internalSecret };
}

function writeNew(file: string): void {
  const fresh = { keyPepper: randomBytes(32).toString('hex'), internalSecret: randomBytes(32).toString('base64url') };
  // Written under another name first: a half-written file must never look like the secrets.
  writeFileSync(`${file}.new`, JSON.stringify(fresh), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
