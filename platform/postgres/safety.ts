import type { Pool } from 'pg';

/**
 * The database would not keep what the service promises: isolation of tenants, or durability of what was acknowledged.
 */
export class UnsafeDatabaseError extends Error {
  override readonly name = 'UnsafeDatabaseError';
  readonly code = 'unsafe_database';
}

interface Findings {
  readonly role: string;
  readonly superuser: boolean;
  readonly bypasses: boolean;
  readonly owns: boolean;
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly synchronousCommit: string;
}

/** Also true for a role that is only a member of the owner: it could become it by SET ROLE. */
const FINDINGS_SQL = `
  select r.rolname as role, r.rolsuper as superuser, r.rolbypassrls as bypasses,
         exists (select from pg_class c where c.relrowsecurity and pg_has_role(r.oid, c.relowner, 'member')) as owns,
         current_setting('fsync') as fsync,
         current_setting('full_page_writes') as "fullPageWrites",
         current_setting('synchronous_commit') as "synchronousCommit"
  from pg_roles r where r.rolname = current_user`;

/**
 * Refuses a role that row level security does not bind, and a server that acknowledges commits it may lose.
 * @throws UnsafeDatabaseError with one line per finding
 */
export async function refuseUnsafeDatabase(pool: Pool): Promise<void> {
  const { rows } = await pool.query<Findings>(FINDINGS_SQL);
  const findings = rows[0]!;
  const problems: string[] = [];
  if (findings.superuser) problems.push(`role ${findings.role} is a superuser, so row level security does not bind it`);
  if (findings.bypasses && !findings.superuser)
    problems.push(`role ${findings.role} has BYPASSRLS, so row level security does not bind it`);
  if (findings.owns && !findings.superuser)
    problems.push(
      `role ${findings.role} owns tables of tenants or may become their owner: connect as another role, or with ` +
        `options=-c role=liftgraph_app`,
    );
  if (findings.fsync === 'off') problems.push('fsync is off: acknowledged writes could be lost');
  if (findings.fullPageWrites === 'off') problems.push('full_page_writes is off: a crash could tear pages');
  if (findings.synchronousCommit === 'off')
    problems.push('synchronous_commit is off: acknowledged writes could be lost');
  if (problems.length > 0)
    throw new UnsafeDatabaseError(problems.map((problem) => `The database is not safe to use: ${problem}`).join('\n'));
}
