import type { AttributionReport } from './attribution-report.ts';
import { html, type Markup } from './html.ts';
import { isMeasurable } from './shown-channels.ts';
import { NOT_MEASURABLE } from './identification-notes.ts';
import { numberFormat } from './number-format.ts';

/** Campaigns that the report lists; the JSON has all. */
const MAX_LISTED = 20;

/** The campaigns of paid channels with the most credit; null where the data names none. */
export function campaignTable(report: AttributionReport): Markup | null {
  const paid = new Set(report.channel_impact.filter((channel) => !channel.is_baseline).map(({ channel }) => channel));
  const unknown = new Set(
    report.channel_impact.filter((channel) => !isMeasurable(channel)).map(({ channel }) => channel),
  );
  const campaigns = (report.campaigns ?? []).filter(({ channel }) => paid.has(channel));
  if (campaigns.every(({ campaign }) => campaign === null)) return null;
  const format = numberFormat(report.currency);
  const listed = campaigns.slice(0, MAX_LISTED);
  const beyond = campaigns.length - listed.length;
  return html`<h2>Campaigns</h2>
    <p class="note">
      The credit of a channel, divided among its campaigns: ${listed.length} with the
      most${beyond > 0 ? html`, and ${format.count(beyond)} more in the JSON` : null}.
    </p>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">campaign</th>
            <th scope="col">channel</th>
            <th scope="col">spend</th>
            <th scope="col">touches</th>
            <th scope="col">last click</th>
            <th scope="col">${report.model}</th>
            <th scope="col">ROAS</th>
          </tr>
        </thead>
        <tbody>
          ${listed.map(
            (each) =>
              html` <tr>
                <th scope="row">${each.campaign ?? '(no campaign)'}</th>
                <td>${each.channel}</td>
                <td>${format.amount(each.spend)}</td>
                <td>${format.count(each.touches)}</td>
                <td>${format.amount(each.lastclick_revenue)}</td>
                <td>${unknown.has(each.channel) ? NOT_MEASURABLE : format.amount(each.attributed_revenue)}</td>
                <td>${each.roas === null ? '–' : format.multiple(each.roas)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}
