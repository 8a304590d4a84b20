import { z } from 'zod';
import { INVOICE_STATUSES, PAYMENT_METHODS } from '../value-lists.ts';
import { noun } from './noun.ts';
import { cents, graphTypes, id, moment } from './terms.ts';

const status = z.enum(INVOICE_STATUSES).register(graphTypes, {
  name: 'InvoiceStatus',
  description: 'INVOICED when it is made, PAST_DUE behind its due date, PAID or VOID for ever.',
});
const methodType = z.enum(PAYMENT_METHODS).register(graphTypes, {
  name: 'InvoicePaymentMethod',
  description: 'How an invoice was paid.',
});

/** What an account was asked to pay for a month; the order of the members is the order in every answer. */
export const invoice = z
  .object({
    id: id('inv').meta({ rest: 'invoice_id', graph: 'Public id, inv_ and 22 characters.' }),
    period: z.string().meta({ description: 'The month, such as 2026-02' }),
    currency: z.string().meta({ description: 'ISO 4217, of all cents here: each currency has its own invoice' }),
    status: status.meta({ graph: 'Where it stands.' }),
    billedTo: z.string().nullable().meta({ description: 'Name of the account, else its e-mail or operator id' }),
    analysesCount: z.int().meta({ description: 'Completed live analyses of the month, also those that cost nothing' }),
    platformFeeCents: cents.meta({ description: 'As in the bill of the month' }),
    floorFeeCents: cents.meta({ description: 'As in the bill of the month' }),
    planFeeCents: cents.meta({ description: 'As in the bill of the month' }),
    totalBilledCents: cents.meta({ description: 'What is to be paid' }),
    createdAt: moment.meta({ graph: 'When the month was closed.' }),
    dueDate: z.iso.date().meta({ description: 'Last day on which it is paid in time' }),
    settledAt: moment.nullable().meta({ description: 'When it was paid, or made void' }),
    paymentMethod: methodType.nullable().meta({ description: 'How it was paid' }),
  })
  .meta({ id: 'Invoice', graph: 'What an account was asked to pay for a month, in one currency.' });

export const invoiceFilter = z
  .object({ status: status.optional().meta({ graph: 'Only those that stand so.' }) })
  .meta({ graph: 'Narrows the list of invoices.' });

const example = {
  invoice_id: 'inv_01JQ2m7Bv4XgL9uTcPdYsF',
  period: '2026-01',
  currency: 'USD',
  status: 'invoiced',
  billed_to: 'Frühling & Söhne',
  analyses_count: 2,
  platform_fee_cents: 93_649,
  floor_fee_cents: 10,
  plan_fee_cents: 0,
  total_billed_cents: 93_659,
  created_at: '2026-02-01T02:00:04.000Z',
  due_date: '2026-02-15',
  settled_at: null,
  payment_method: null,
};

export const invoices = noun({
  one: 'invoice',
  many: 'invoices',
  tag: 'Billing',
  record: invoice,
  example,
  operations: {
    listInvoices: {
      method: 'GET',
      path: '/billing/invoices',
      kind: 'read',
      action: 'billing:read',
      field: 'invoices',
      summary: 'List the invoices of the account',
      description:
        'Newest first; one per month and currency that cost anything, made on the first of the next month. They are ' +
        'of the account as a whole: a workspace has none, nor has a test key.',
      graph:
        'Invoices of the account, newest first; a workspace and a test key have none. Errors: VALIDATION_ERROR, ' +
        'INSUFFICIENT_PERMISSIONS.',
      filter: invoiceFilter,
      answer: { page: invoice },
      answered: 'A page of invoices',
      example: { query: { status: 'invoiced' } },
    },
    getInvoice: {
      method: 'GET',
      path: '/billing/invoices/{id}',
      kind: 'read',
      action: 'billing:read',
      field: 'invoice',
      summary: 'Read an invoice',
      description: 'As it was made; only whether it was paid changes. With Accept: application/pdf as a page of A4.',
      graph: 'An invoice of the account. Errors: RESOURCE_NOT_FOUND, INSUFFICIENT_PERMISSIONS.',
      answer: { one: invoice },
      answered: 'The invoice',
    },
  },
});
