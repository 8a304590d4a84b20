import { assertAction } from '../schema/actions.ts';
import { auditActor, recordAuditEvent } from '../services/audit/audit-event.ts';
import { requireUuid } from '../platform/identifiers.ts';
import type { ExportAttribution } from '../rest-adapter/call.ts';
import {
  exportAttribution,
  type ExportServices,
} from '../subgraphs/attribution/analysis/attributions/export-attribution.ts';
import { reportAttribution } from '../subgraphs/attribution/analysis/reports/report-attribution.ts';
import { PacedTurns } from '../platform/paced-turns.ts';
import { OpenExports } from '../subgraphs/attribution/analysis/attributions/open-exports.ts';

/** Lets the REST door download from the attribution subgraph of the same process. */
export function localExports(stores: Omit<ExportServices, 'openExports'>): ExportAttribution {
  const services = { ...stores, openExports: new OpenExports(), reportTurns: new PacedTurns() };
  return async (context, id, request) => {
    const principal = assertAction(
      context.principal,
      request.level === 'paths' ? 'journey:read' : 'attribution:export',
    );
    const uuid = requireUuid('attr', id, 'attribution');
    const file = await (request.level === 'report'
      ? reportAttribution(services, principal, uuid, request)
      : exportAttribution(services, principal, uuid, request));
    const { accountId, environment } = principal;
    // Before the first byte leaves: what can't be told is not handed out.
    await services.database.asNobody(
      (em) =>
        recordAuditEvent(em, context, {
          accountId,
          type: 'data.exported',
          actor: auditActor(principal),
          target: { type: 'attribution', id },
          outcome: 'success',
          environment,
          details: { level: request.level, format: request.format },
        }),
      { turnOf: accountId },
    );
    return file;
  };
}
