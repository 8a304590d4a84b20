import { createHash } from 'node:crypto';
import type { AuditLog } from '../../../services/audit/audit-log.ts';
import { RECEIPT_TYPE } from '../../../services/trust/signed-receipt.ts';
import { jwsHeader, verifiedPayload } from '../../../services/trust/compact-jws.ts';
import { homeOf } from '../../../services/identity/workspaces/workspace-store.ts';
import { PublicKeyStore } from '../../../services/trust/signing-key-store.ts';
import type { Principal } from '../../../schema/principal.ts';
import { ProblemError } from '../../../schema/problems.ts';
import { shownId, uuidFromPublicId, type Uuid } from '../../../platform/identifiers.ts';
import { wholeAccount, type Database } from '../../../platform/postgres/database.ts';
import { CommissionChainChecker, type ChainCheck, type ChainPlace } from './commission-chain.ts';
import {
  COMMISSION_COLUMNS,
  commissionOf,
  ledgerHashOf,
  type Commission,
  type CommissionRow,
} from './commission-entry.ts';

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
      const [head = null] = await em.execute<ChainPlace[]>(`select sequence, hash from billing.commission_chains`);
      const checker = new CommissionChainChecker(witness);
      for (let sequence = 0, isMore = true; isMore && !checker.isBroken;) {
        const rows = await em.execute<CommissionRow[]>(
          `select ${COMMISSION_COLUMNS} from billing.commissions c where c.sequence > ? order by c.sequence limit ?`,
          [sequence, BATCH],
        );
        for (const row of rows) checker.take(commissionOf(row));
        sequence = rows.at(-1)?.sequence ?? sequence;
        isMore = rows.length === BATCH;
      }
      return checker.finish(head);
    },
    { isolation: 'repeatable read' },
  );
}

/** The entry that the audit log was told of last; what it says of itself comes from its own chain. */
async function lastWitnessed(auditLog: AuditLog, accountId: Uuid): Promise<ChainPlace | null> {
  const { entries } = await auditLog.list(accountId, { eventType: 'commission.created' }, 1, 0);
  const details = entries[0]?.details as { readonly sequence: number; readonly ledger_hash: string } | undefined;
  return details === undefined ? null : { sequence: details.sequence, hash: details.ledger_hash };
}

/**
 * Checks an entry of the ledger of a caller, or the receipt of a value proof of it.
 * @param expected the hash that it should have; null where none was given
 * @throws ProblemError `resource_not_found` for an id of nothing that the account has
 */
export async function checkEntry(
  database: Database,
  principal: Principal,
  named: string,
  expected: string | null,
): Promise<EntryCheck> {
  const receiptId = uuidFromPublicId('rcpt', named);
  const { computedHash, isSound } =
    receiptId === undefined
      ? await entryHash(database, principal, named)
      : await receiptHash(database, principal, receiptId, named);
  return { valid: isSound && (expected === null || expected === computedHash), computedHash };
}

interface Hashed {
  readonly computedHash: string;
  readonly isSound: boolean;
}

async function entryHash(database: Database, principal: Principal, named: string): Promise<Hashed> {
  // Commissions are earned on live data, which test keys do not see.
  const id = principal.environment === 'live' ? uuidFromPublicId('com', named) : undefined;
  const [row] =
    id === undefined
      ? []
      : await database.asTenant(homeOf(principal), (em) =>
          em.execute<CommissionRow[]>(`select ${COMMISSION_COLUMNS} from billing.commissions c where c.id = ?`, [id]),
        );
  if (row === undefined) throw unknown(named);
  const entry: Commission = commissionOf(row);
  const computedHash = ledgerHashOf(entry);
  return { computedHash, isSound: computedHash === entry.ledgerHash };
}

async function receiptHash(database: Database, principal: Principal, id: Uuid, named: string): Promise<Hashed> {
  const [row] = await database.asTenant(principal, (em) =>
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
