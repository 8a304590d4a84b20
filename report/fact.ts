import { html, type Markup } from './html.ts';

/** A term and what it is, for a list of definitions. */
export function fact(term: string, value: string | Markup): Markup {
  return html`<dt>${term}</dt>
    <dd>${value}</dd>`;
}
