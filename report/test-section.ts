import type { AttributionReport, ReportedTest } from './attribution-report.ts';
import { paidChannels } from './shown-channels.ts';
import { html, type Markup } from './html.ts';
import { foundBy, TEST_NAMES, testCounts, testNotes } from './test-notes.ts';

/** What the credit had to pass, what it did not, and what each test found. */
export function testSection(report: AttributionReport): Markup | null {
  const { tests = [] } = report.diagnostics;
  if (tests.length === 0) return null;
  const { made, failed } = testCounts(report);
  const notes = testNotes(report);
  return html`<h2>What these figures were tested for</h2>
    <p class="note">
      ${failed === 0 ? `All ${made}` : `${made - failed} of ${made}`} tests on the data itself passed. One fails where
      it finds more than chance and the intervals allow for; it lowers the confidence of the channels that it concerns.
      That none fails does not prove a figure: it may be wrong in a way that no test looks for.
    </p>
    ${
      notes.length === 0
        ? null
        : html`<dl>
            ${notes.map(
              ({ status, channels, code, message }) =>
                html`<dt>
                    ${status === 'fail' ? '✗' : '–'} ${channels.length > 0 ? channels.join(', ') : nameOf(code)}
                  </dt>
                  <dd>${message}</dd>`,
            )}
          </dl>`
    }
    ${made === 0 ? null : matrix(report, tests)}`;
}

const nameOf = (code: string): string => TEST_NAMES[code] ?? code;

/** Channels against tests: what was found, and whether it is too much. */
function matrix(report: AttributionReport, tests: readonly ReportedTest[]): Markup {
  const codes = Object.keys(TEST_NAMES).filter((code) =>
    tests.some((test) => test.code === code && test.channel !== null),
  );
  const paid = paidChannels(report).map(({ channel }) => channel);
  const tested = new Set(tests.flatMap(({ channel }) => channel ?? []));
  const rows = [
    ...paid.filter((channel) => tested.has(channel)),
    ...[...tested].filter((name) => !paid.includes(name)),
  ];
  const cell = (channel: string, code: string): Markup => {
    const test = tests.find((each) => each.code === code && each.channel === channel);
    if (test === undefined) return html`<td></td>`;
    return test.status === 'fail' ? html`<td class="minus">${foundBy(test)} ✗</td>` : html`<td>${foundBy(test)}</td>`;
  };
  return html`<div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">channel</th>
            ${codes.map((code) => html`<th scope="col">${nameOf(code)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (channel) =>
              html` <tr class="channel">
                <th scope="row">${channel}</th>
                ${codes.map((code) => cell(channel, code))}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p class="note">
      Held out: what an unpaid channel would be credited with. Visits: unpaid ones per touch, in the week before less
      the week after. Horizon, halves: by how much the effect moves. These in parts of the revenue; no counterpart: part
      of the people. ✗ failed.
    </p>`;
}
