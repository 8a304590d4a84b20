import { createHash } from 'node:crypto';
import type { AuditLog } from '../../../services/audit/audit-log.ts';
import { RECEIPT_TYPE } from '../../../services/trust/signed-receipt.ts';
import { jwsHeader, verifiedPayload } from '../../../services/trust/compact-jws.ts';
import { PublicKeyStore } from '../../../services/trust/signing-key-store.ts';
import { ProblemError } from '../../../schema/problems.ts';
import { shownId, uuidFromPublicId, type Uuid } from '../../../platform/identifiers.ts';
import { wholeAccount, type Database } from '../../../platform/postgres/database.ts';
import {
  COMMISSION_COLUMNS,
  commissionOf,
  GENESIS_HASH,
  ledgerHashOf,
  type Commission,
  type CommissionRow,
} from './commission-entry.ts';

/** What came of checking a chain of commissions. */
export interface ChainCheck {
  readonly intact: boolean;
  readonly length: number;
  readonly firstBrokenSequence: number | null;
}

/** What came of checking one entry, or one receipt. */
export interface EntryCheck {
  readonly valid: boolean;
  readonly computedHash: string;
}

interface VerificationServices {
  readonly database: Database;
  readonly auditLog: AuditLog;
}

const BATCH = 1_000;

/**
 * Hashes the ledger of an account again, from its first entry to the head of its chain, a batch in memory at a time.
 * What the chain cannot tell by itself, a tail that is missing or a ledger that was hashed anew, the audit log does: it
 * has an event of every entry, with its hash, and its own heads are signed outside of the database.
 */
export async function checkCommissionChain(
  { database, auditLog }: VerificationServices,
  accountId: Uuid,
): Promise<ChainCheck> {
  const witness = await lastWitnessed(auditLog, accountId);
  return database.asTenant(
    wholeAccount({ accountId, environment: 'live' }),
    async (em) => {
      const [head] = await em.execute<{ sequence: number; hash: string }[]>(
        `select sequence, hash from billing.commission_chains`,
      );
      const length = Math.max(head?.sequence ?? 0, witness?.sequence ?? 0);
      let last = { sequence: 0, hash: GENESIS_HASH };
      const broken = (sequence: number): ChainCheck => ({ intact: false, length, firstBrokenSequence: sequence });
      for (;;) {
        const rows = await em.execute<CommissionRow[]>(
          `select ${COMMISSION_COLUMNS} from billing.commissions c where c.sequence > ? order by c.sequence limit ?`,
          [last.sequence, BATCH],
        );
        for (const entry of rows.map(commissionOf)) {
          const { sequence, previousHash, ledgerHash } = entry;
          const isNext = sequence === last.sequence + 1 && previousHash === last.hash;
          if (!isNext || ledgerHashOf(entry) !== ledgerHash) return broken(last.sequence + 1);
          if (sequence === witness?.sequence && ledgerHash !== witness.hash) return broken(sequence);
          last = { sequence, hash: ledgerHash };
        }
        if (rows.length < BATCH) break;
      }
      if (last.sequence < length) return broken(last.sequence + 1);
      if (head !== undefined && (last.sequence > head.sequence || last.hash !== head.hash))
        return broken(last.sequence);
      return { intact: true, length, firstBrokenSequence: null };
    },
    { isolation: 'repeatable read' },
  );
}

/** The entry that the audit log was told of last; what it says of itself comes from its own chain. */
async function lastWitnessed(
  auditLog: AuditLog,
  accountId: Uuid,
): Promise<{ readonly sequence: number; readonly hash: string } | null> {
  const { entries } = await auditLog.list(accountId, { eventType: 'commission.created' }, 1, 0);
  const details = entries[0]?.details as { readonly sequence: number; readonly ledger_hash: string } | undefined;
  return details === undefined ? null : { sequence: details.sequence, hash: details.ledger_hash };
}

/**
 * Checks an entry of the ledger of an account, or the receipt of a value proof of it.
 * @param expected the hash that it should have; null where none was given
 * @throws ProblemError `resource_not_found` for an id of nothing that the account has
 */
export async function checkEntry(
  database: Database,
  accountId: Uuid,
  named: string,
  expected: string | null,
): Promise<EntryCheck> {
  const receiptId = uuidFromPublicId('rcpt', named);
  const { computedHash, isSound } =
    receiptId === undefined
      ? await entryHash(database, accountId, named)
      : await receiptHash(database, accountId, receiptId, named);
  return { valid: isSound && (expected === null || expected === computedHash), computedHash };
}

interface Hashed {
  readonly computedHash: string;
  readonly isSound: boolean;
}

async function entryHash(database: Database, accountId: Uuid, named: string): Promise<Hashed> {
  const id = uuidFromPublicId('com', named);
  const [row] =
    id === undefined
      ? []
      : await database.asTenant(wholeAccount({ accountId, environment: 'live' }), (em) =>
          em.execute<CommissionRow[]>(`select ${COMMISSION_COLUMNS} from billing.commissions c where c.id = ?`, [id]),
        );
  if (row === undefined) throw unknown(named);
  const entry: Commission = commissionOf(row);
  const computedHash = ledgerHashOf(entry);
  return { computedHash, isSound: computedHash === entry.ledgerHash };
}

async function receiptHash(database: Database, accountId: Uuid, id: Uuid, named: string): Promise<Hashed> {
  const [row] = await database.asTenant(wholeAccount({ accountId, environment: 'live' }), (em) =>
    em.execute<{ receipt: string }[]>(`select signed_receipt as receipt from billing.value_proofs where id = ?`, [id]),
  );
  if (row === undefined) throw unknown(named);
  const kid = jwsHeader(row.receipt)?.kid;
  const key = kid == null ? null : await new PublicKeyStore(database).find(kid);
  const verified = key === null ? null : await verifiedPayload(row.receipt, key.x);
  return {
    computedHash: `sha256:${createHash('sha256').update(row.receipt).digest('hex')}`,
    isSound: verified?.type === RECEIPT_TYPE,
  };
}

const unknown = (named: string): ProblemError =>
  new ProblemError('resource_not_found', `There is no commission or receipt ${shownId(named)}, or it is not yours.`);
