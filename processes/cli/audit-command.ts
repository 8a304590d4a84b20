import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Client } from 'pg';
import { archivedEntries, AuditArchive, entryLines } from '../../services/audit/audit-archive.ts';
import { archiveAuditLog, BrokenChainError } from '../../services/audit/archive-audit-log.ts';
import { ChainChecker, type ChainCheck } from '../../services/audit/audit-chain.ts';
import { GENESIS, type ChainedEntry, type ChainHead } from '../../services/audit/audit-entry.ts';
import { AuditHeadsFile, type WitnessedHeads } from '../../services/audit/audit-heads.ts';
import { INSTALLATION_CHAIN } from '../../services/audit/audit-migration.ts';
import { AuditStore } from '../../services/audit/audit-store.ts';
import { isUuid } from '../../platform/identifiers.ts';
import { openDatabase } from '../../platform/postgres/database.ts';
import { createLogger } from '../../platform/telemetry/logs.ts';
import { auditPlaces } from '../audit-services.ts';
import { printable } from '../../report/terminal-text.ts';
import { BadInputError } from './bad-input-error.ts';
import { withInstallation } from './installation.ts';
import { readKeys } from './key-set.ts';

export interface AuditArchiveOptions {
  readonly olderThanDays: number;
}

export interface AuditVerifyOptions {
  /** File or URL. */
  readonly jwks: string;
  readonly heads: string;
  readonly json?: true;
}

/** Exit codes of `audit verify`, in the manner of grep. */
const INTACT = 0;
const BROKEN = 1;
const NOT_FOUND_OUT = 2;

/** `liftgraph audit archive`: moves old entries of every chain into files. */
export async function runAuditArchive({ olderThanDays }: AuditArchiveOptions): Promise<void> {
  await withInstallation(async ({ config, urls }) => {
    const { archiveDirectory } = auditPlaces(config);
    const owner = new Client({ connectionString: urls.ownerUrl, application_name: 'liftgraph-audit' });
    await owner.connect();
    try {
      let entries = 0;
      for await (const segment of archiveAuditLog(owner, new AuditArchive(archiveDirectory), olderThanDays)) {
        entries += segment.entries;
        process.stdout.write(`${segment.fileName}  ${segment.entries} entries\n`);
      }
      process.stdout.write(`${entries} entries were moved to ${archiveDirectory}\n`);
    } catch (error) {
      throw error instanceof BrokenChainError ? new BadInputError(error.message, { cause: error }) : error;
    } finally {
      await owner.end();
    }
  });
}

/**
 * `liftgraph audit export`: prints what is sealed of a chain, as the API shows it, one entry a line, the oldest first.
 */
export async function runAuditExport(chainName: string): Promise<void> {
  const chain = chainName === 'installation' ? INSTALLATION_CHAIN : chainName;
  if (!isUuid(chain))
    throw new BadInputError(`${chainName} is not a chain. Give the chain_id of an entry, or installation.`);
  await withInstallation(async ({ config, urls }) => {
    const database = await openDatabase({
      url: urls.applicationUrl,
      entities: [],
      applicationName: 'liftgraph-audit',
      poolMax: 2,
      logger: createLogger({ level: 'silent', format: 'json' }),
    });
    try {
      const store = new AuditStore(database, new AuditArchive(auditPlaces(config).archiveDirectory), chain);
      const { floor, head } = await store.extent();
      await pipeline(Readable.from(entryLines(store.entries(floor.sequence + 1, head.sequence))), process.stdout, {
        end: false,
      });
    } finally {
      await database.close();
    }
  });
}

interface FileCheck extends ChainCheck {
  readonly chain: string;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly unproven: number;
  /** Last entry of the files that a signed head vouches for; null for none. */
  readonly witnessedThrough: number | null;
}

/** `liftgraph audit verify <file…>`: checks entries of one chain on any machine. Returns the exit code. */
export async function runAuditVerify(files: readonly string[], options: AuditVerifyOptions): Promise<number> {
  try {
    for (const file of [...files, options.heads])
      if (!existsSync(file)) throw new BadInputError(`${file}: there is no such file. Check the path.`);
    const check = await checkFiles(files, options);
    process.stdout.write(
      options.json === true
        ? `${JSON.stringify(asJson(check), undefined, 2)}\n`
        : asText(check)
            .map((line) => `${printable(line)}\n`)
            .join(''),
    );
    return holds(check) ? INTACT : BROKEN;
  } catch (error) {
    if (!(error instanceof BadInputError)) throw error;
    process.stderr.write(`${printable(`error: ${error.message}`)}\n`);
    return NOT_FOUND_OUT;
  }
}

async function checkFiles(
  files: readonly string[],
  { jwks, heads: headsFile }: AuditVerifyOptions,
): Promise<FileCheck> {
  const keys = await readKeys(jwks);
  let checker: ChainChecker | undefined;
  let witnesses: WitnessedHeads = { heads: [], unproven: 0 };
  let chain = '';
  let first = 0;
  let last: ChainHead = GENESIS;
  for (const file of files) {
    for await (const link of archivedEntries(file)) {
      if (checker === undefined) {
        const start = startOf(link, file);
        chain = start.chain;
        first = link.sequence;
        witnesses = await new AuditHeadsFile(headsFile).headsOf(chain, async (kid) => keys.get(kid) ?? null);
        checker = new ChainChecker(chain, start.after, witnesses.heads);
      }
      if (Number.isFinite(link.sequence)) last = { sequence: Math.max(last.sequence, link.sequence), hash: link.hash };
      if (!checker.take(link)) break;
    }
  }
  if (checker === undefined) throw new BadInputError(`${files.join(', ')}: there are no entries in it.`);
  const seen = witnesses.heads.filter(({ sequence }) => sequence >= first && sequence <= last.sequence);
  return {
    ...checker.finish(last.sequence),
    chain,
    firstSequence: first,
    lastSequence: last.sequence,
    unproven: witnesses.unproven,
    witnessedThrough: seen.at(-1)?.sequence ?? null,
  };
}

/**
 * A file may begin anywhere in the chain: what its first entry is linked to is taken from it, but the beginning of a
 * chain is known.
 */
function startOf(
  { entry, sequence }: ChainedEntry,
  file: string,
): { readonly chain: string; readonly after: ChainHead } {
  const content = Number.isFinite(sequence)
    ? (JSON.parse(entry) as { readonly chain_id?: unknown; readonly previous_hash?: unknown })
    : {};
  if (typeof content.chain_id !== 'string' || typeof content.previous_hash !== 'string')
    throw new BadInputError(
      `${file}: its first line is not an entry of an audit log. Give files of the archive, or what liftgraph audit ` +
        `export prints.`,
    );
  return {
    chain: content.chain_id === 'installation' ? INSTALLATION_CHAIN : content.chain_id,
    after: sequence === 1 ? GENESIS : { sequence: sequence - 1, hash: content.previous_hash },
  };
}

/** Entries that no signed head vouches for prove nothing: anybody can make a chain. */
function holds(check: FileCheck): boolean {
  return check.intact && check.unproven === 0 && check.witnessedThrough !== null;
}

function asText(check: FileCheck): readonly string[] {
  const { intact, reason, firstBrokenSequence, firstSequence, lastSequence, witnessedThrough, unproven } = check;
  const verdict = intact
    ? unproven > 0
      ? `NOT PROVEN: ${unproven} heads of this chain were signed by no key of this set; get the set again, it may be ` +
        `out of date.`
      : witnessedThrough === null
        ? 'NOT PROVEN: no signed head vouches for any of these entries.'
        : 'intact'
    : `BROKEN at entry ${firstBrokenSequence}: ${reason}.`;
  return [
    verdict,
    `  chain       ${check.chain === INSTALLATION_CHAIN ? 'installation' : check.chain}`,
    `  entries     ${firstSequence} to ${lastSequence}, ${check.entriesVerified} of them right`,
    `  witnessed   ${
      witnessedThrough === null ? 'none' : `through ${witnessedThrough}, by ${check.headsMatched} signed heads`
    }`,
    ...(firstSequence > 1
      ? [`  not known   what came before entry ${firstSequence}; give the files before it as well`]
      : []),
  ];
}

function asJson(check: FileCheck): object {
  return {
    chain_intact: check.intact,
    proven: holds(check),
    chain_id: check.chain === INSTALLATION_CHAIN ? 'installation' : check.chain,
    first_sequence: check.firstSequence,
    last_sequence: check.lastSequence,
    entries_verified: check.entriesVerified,
    first_broken_sequence: check.firstBrokenSequence,
    reason: check.reason,
    heads_matched: check.headsMatched,
    heads_unproven: check.unproven,
    witnessed_through: check.witnessedThrough,
  };
}
