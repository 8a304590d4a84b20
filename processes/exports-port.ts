import { assertAction } from '../platform/auth/actions.ts';
import { requireUuid } from '../platform/identifiers.ts';
import type { ExportAttribution } from '../rest-adapter/call.ts';
import { exportAttribution, type ExportServices } from '../subgraphs/attribution/attributions/export-attribution.ts';

/** Lets the REST door download from the attribution subgraph of the same process. */
export function localExports(services: ExportServices): ExportAttribution {
  return async (context, id, request) => exportAttribution(services, assertAction(context.principal, 'attribution:read'), requireUuid('attr', id, 'attribution'), request);
}
