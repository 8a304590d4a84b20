import { html, type Markup } from './html.ts';
import type { ReportStatements } from './statements.ts';
import { VERDICT_NAMES } from './verdicts.ts';

/** What can be said of each paid channel, and the best next step. */
export function statementSection({ channels }: ReportStatements): Markup | null {
  if (channels.length === 0) return null;
  return html`<h2>What can be said of each channel</h2>
    <p class="note">
      A channel earns its cost, or does not, where its whole interval says so. Where the interval holds break-even, it
      can’t be told: a credit above or below it says nothing then.
    </p>
    <div class="scroll">
      <table class="statements">
        <thead>
          <tr>
            <th scope="col">channel</th>
            <th scope="col">verdict</th>
            <th scope="col">why</th>
            <th scope="col">best next step</th>
          </tr>
        </thead>
        <tbody>
          ${channels.map(
            ({ channel, verdict, sentence, next }) =>
              html` <tr class="channel">
                <th scope="row">${channel}</th>
                <td><span class="verdict ${verdict}">${VERDICT_NAMES[verdict]}</span></td>
                <td>${sentence}</td>
                <td>${next.text}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}
