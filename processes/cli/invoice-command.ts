import { ProblemError } from '../../schema/problems.ts';
import { publicId, requireUuid } from '../../platform/identifiers.ts';
import { openDatabase } from '../../platform/postgres/database.ts';
import { createPubSub } from '../../platform/postgres/pub-sub.ts';
import { createLogger } from '../../platform/telemetry/logs.ts';
import type { Invoice } from '../../subgraphs/billing/invoices/invoice-store.ts';
import { payInvoice, voidInvoice } from '../../subgraphs/billing/invoices/settle-invoice.ts';
import { BadInputError } from './bad-input-error.ts';
import { withInstallation } from './installation.ts';

const VERBS = { paid: payInvoice, void: voidInvoice } as const;

/** `liftgraph admin invoice paid <invoice>` and `liftgraph admin invoice void <invoice>`. */
export async function settleInvoiceByAdmin(verb: keyof typeof VERBS, id: string): Promise<void> {
  await withInstallation(async ({ urls }) => {
    const logger = createLogger({ level: 'silent', format: 'json' });
    const url = urls.applicationUrl;
    const database = await openDatabase({
      url,
      entities: [],
      applicationName: 'liftgraph-admin',
      poolMax: 2,
      logger,
    });
    const pubSub = await createPubSub({ url, database, logger });
    try {
      const invoice = await VERBS[verb]({ database, pubSub }, requireUuid('inv', id, 'invoice'));
      process.stdout.write(`${lineOf(invoice)}\n`);
    } catch (error) {
      throw error instanceof ProblemError ? new BadInputError(error.message, { cause: error }) : error;
    } finally {
      await pubSub.close();
      await database.close();
    }
  });
}

function lineOf({ id, accountId, period, totalBilledCents, currency, status }: Invoice): string {
  const total = `${(totalBilledCents / 100).toFixed(2)} ${currency}`;
  return `${publicId('inv', id)}  ${period}  ${total}  ${status}  account ${accountId}`;
}
