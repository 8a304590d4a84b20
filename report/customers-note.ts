import type { AttributionReport } from './attribution-report.ts';
import { html, type Markup } from './html.ts';
import { numberFormat } from './number-format.ts';
import { paidChannels } from './shown-channels.ts';

type Customers = NonNullable<AttributionReport['diagnostics']['customers']>;

/** Paid channels that stand on the way of orders, with how many of these new customers made. */
export function customerRows(report: AttributionReport): Customers['channels'] {
  const paid = new Set(paidChannels(report).map(({ channel }) => channel));
  return (report.diagnostics.customers?.channels ?? []).filter(({ channel }) => paid.has(channel));
}

/** New against returning customers, in a sentence; null where no order says which it is. */
export function customersNote({ currency, diagnostics: { customers } }: AttributionReport): string | null {
  if (customers == null) return null;
  const format = numberFormat(currency);
  const { new: first, returning, unknown } = customers;
  const known = first.orders + returning.orders;
  const share = known === 0 ? '' : `, ${format.percent(first.orders / known)} of those that are known`;
  const rest = unknown.orders === 0 ? '' : `; of ${format.count(unknown.orders)} nothing is said`;
  return (
    `New customers placed ${format.count(first.orders)} orders for ${format.money(first.revenue)}${share}; returning ` +
    `ones ${format.count(returning.orders)} for ${format.money(returning.revenue)}${rest}.`
  );
}

/** The same as a part of the page, with a table of the channels. */
export function customersSection(report: AttributionReport): Markup | null {
  const note = customersNote(report);
  if (note === null) return null;
  const format = numberFormat(report.currency);
  const rows = customerRows(report);
  return html`<h2>New and returning customers</h2>
    <p>${note}</p>
    ${
      rows.length === 0
        ? null
        : html`<p class="note">
              Orders with a touch of the channel in the ${report.lookback_window_days} days before. This is a count, and
              no credit: an order stands at every channel that it has a touch of.
            </p>
            <div class="scroll">
              <table>
                <thead>
                  <tr>
                    <th scope="col">channel</th>
                    <th scope="col">orders</th>
                    <th scope="col">of new customers</th>
                    <th scope="col">part</th>
                  </tr>
                </thead>
                <tbody>
                  ${rows.map(
                    ({ channel, orders, new_orders: fresh }) =>
                      html` <tr>
                        <th scope="row">${channel}</th>
                        <td>${format.count(orders)}</td>
                        <td>${format.count(fresh)}</td>
                        <td>${format.percent(fresh / orders)}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
    }`;
}
