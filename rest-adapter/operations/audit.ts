import { z } from 'zod';
import { auditEvents, auditFilter, auditVerifyRequest, LARGEST_SEQUENCE } from '../../schema/contract/audit-events.ts';
import { queryInteger } from '../../schema/contract/query-integer.ts';
import { restForm } from '../../schema/contract/rest-form.ts';
import { operationsOf } from '../contract-operations.ts';
import type { Json, ValidRequest } from '../operation.ts';
import { isWithinReach, pageParameters } from '../representations/list.ts';
import { exampleTrust } from '../representations/trust-envelope.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;

const { before_sequence, ...filter } = restForm(auditFilter).shape;
const eventsQuery = z
  .object({
    ...filter,
    before_sequence: queryInteger(1, LARGEST_SEQUENCE, before_sequence!.description!).optional(),
    limit: queryInteger(1, MAX_LIMIT, 'Entries per page; 50 when nothing is said').optional(),
    page: pageParameters.page,
    per_page: queryInteger(1, 100, 'The same as limit, as other lists have it').optional(),
  })
  .refine(({ page, limit, per_page }) => isWithinReach(page, limit ?? per_page ?? DEFAULT_LIMIT, MAX_LIMIT), {
    path: ['page'],
    message: 'page × limit must not pass 100 000; go on with before_sequence',
    params: { code: 'page_out_of_reach' },
  });

/** The request as other lists have it, by page and per_page. */
function inPages(request: ValidRequest): ValidRequest {
  const { limit, per_page } = request.query as z.output<typeof eventsQuery>;
  return { ...request, query: { ...request.query, per_page: limit ?? per_page ?? DEFAULT_LIMIT } };
}

const [listEvents, verifyChain] = operationsOf(auditEvents);
const { events, chain_verified, ...page } = listEvents!.success.schema!.shape;

export const auditOperations = [
  {
    ...listEvents!,
    querySchema: eventsQuery,
    success: {
      ...listEvents!.success,
      schema: z.object({ events: events!, chain_verified: chain_verified!, total_count: z.int().min(0), ...page }),
    },
    variables: (request: ValidRequest) => listEvents!.variables(inPages(request)),
    present: (data: Json, request: ValidRequest, baseUrl: string) => {
      const { events, chain_verified, meta, trust } = listEvents!.present(data, inPages(request), baseUrl)!;
      return { events, chain_verified, total_count: (meta as Json)['total'], meta, trust };
    },
    example: {
      query: { severity: 'info', limit: '50' },
      response: {
        events: [auditEvents.example],
        chain_verified: true,
        total_count: 1,
        meta: { page: 1, per_page: 50, total: 1, total_pages: 1 },
        trust: exampleTrust(1),
      },
    },
  },
  // The document says of no default.
  { ...verifyChain!, bodySchema: restForm(auditVerifyRequest).optional() },
];
