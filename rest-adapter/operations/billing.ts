import { z } from 'zod';
import { invoices } from '../../schema/contract/invoices.ts';
import { plan, plans } from '../../schema/contract/plans.ts';
import { restForm } from '../../schema/contract/rest-form.ts';
import { operationsOf } from '../contract-operations.ts';
import { objectAt } from '../members.ts';
import type { Json } from '../operation.ts';
import { meta, pageQuery, presentMeta, type PageRequest } from '../representations/list.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';

const page = z.object({ plans: z.array(restForm(plan)), meta, trust: trustEnvelope });

export const planOperations = operationsOf(plans, {
  // The graph answers the whole list.
  listPlans: {
    querySchema: pageQuery,
    success: {
      status: 200,
      description: plans.operations.listPlans.answered,
      schema: page,
      headers: { Link: 'first, prev, next and last page' },
    },
    present: (data, { query }) => {
      const { plans, trust } = objectAt(data, 'plans');
      const asked = query as unknown as PageRequest;
      const all = plans as readonly Json[];
      const from = (asked.page - 1) * asked.per_page;
      const shown = all.slice(from, from + asked.per_page);
      // Of the records in the answer: all of them, as the price list is verified as a whole.
      const verification = { ...objectAt(trust as Json, 'verification') };
      for (const count of ['claims_total', 'claims_verified']) verification[count] = shown.length;
      return {
        plans: shown,
        meta: presentMeta(asked, all.length),
        trust: { ...(trust as Json), verification },
      };
    },
    example: {
      response: {
        plans: [plans.example],
        meta: { page: 1, per_page: 20, total: 1, total_pages: 1 },
        trust: exampleTrust(1),
      },
    },
  },
});

export const invoiceOperations = operationsOf(invoices, {
  getInvoice: { rendering: { name: 'invoice', mediaType: 'application/pdf' } },
});
