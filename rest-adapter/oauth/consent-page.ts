import type { AuthorizationRequest } from '../../services/identity/oauth/authorization-endpoint.ts';
import type { Scope } from '../../schema/principal.ts';
import { document, escape } from '../pages.ts';

/** What each scope lets an application do, for people who never saw one. */
const PLAIN_WORDS: Readonly<Record<Scope, string>> = {
  'attribution:read': 'See your analyses, data sources and experiments',
  'attribution:write': 'Run analyses, and connect, change or delete data sources. Analyses may cost money',
  'channels:read': 'See how your channels perform',
  'journeys:read': 'See the paths that your customers take',
  'campaigns:read': 'See how your campaigns perform',
  'health:read': 'See the health of your marketing and your brand',
  'billing:read': 'See your bills, usage and plan',
  'referrals:read': 'See referrals and commissions',
  'referrals:write': 'Change what your agent says about itself',
  'audit:read': 'See the audit log of your account',
};

const STYLE = `
.ask { list-style: none; padding: 0; margin: 0 0 1.75rem; border: 1px solid var(--line); border-radius: 8px }
.ask li {
  display: flex; flex-wrap: wrap; gap: .15rem .75rem; justify-content: space-between; align-items: baseline;
  padding: .7rem 1rem; border-bottom: 1px solid var(--line)
}
.ask li:last-child { border-bottom: 0 } .ask code { color: var(--soft); background: none; padding: 0; font-size: .8rem }
label { font-weight: 600; display: block } .hint { color: var(--soft); font-size: .9rem; margin: .2rem 0 .6rem }
input {
  width: 100%; padding: .7rem .8rem; font: .95rem ui-monospace, monospace;
  color: inherit; background: var(--wash); border: 1px solid var(--soft); border-radius: 8px
}
input:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.choice { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.25rem }
button {
  flex: 1 1 10rem; padding: .7rem 1.4rem; font: 600 1rem system-ui, sans-serif; cursor: pointer;
  color: var(--paper); background: var(--accent); border: 1px solid var(--accent); border-radius: 8px
}
button.no { background: none; color: var(--ink); border-color: var(--soft) }
.warning, .fault {
  margin: 1.5rem 0; padding: .8rem 1rem; font-size: .95rem;
  background: var(--wash); border-left: 4px solid var(--accent); border-radius: 0 8px 8px 0
}
.fault { border-color: #c0392b } .to { overflow-wrap: anywhere }
`;

/** Asks the resource owner; `fault` says what was wrong with the key that was entered before. */
export function consentPage({ client, redirectUri, scopes }: AuthorizationRequest, fault: string | null): string {
  const name = escape(client.name);
  const rows = scopes.map((scope) => `<li>${PLAIN_WORDS[scope]} <code>${scope}</code></li>`).join('\n');
  const described = fault === null ? 'aria-describedby="hint"' : 'aria-describedby="hint fault" aria-invalid="true"';
  return document(
    `Allow ${client.name}? · Liftgraph`,
    `<h1>${name} asks for access to your Liftgraph account</h1>
<p class="status">It names itself; Liftgraph has not checked who is behind it.
The answer goes to <span class="to">${escape(new URL(redirectUri).host)}</span>.</p>
<h2>It will be able to</h2>
<ul class="ask">
${rows}
</ul>
<form method="post" autocomplete="off">
${fault === null ? '' : `<p class="fault" role="alert" id="fault">${escape(fault)}</p>`}
<label for="key">Your secret key</label>
<p class="hint" id="hint"><code>svc_live_sk_…</code> gives access to your data,
<code>svc_test_sk_…</code> to the sandbox only. ${name} never sees the key.</p>
<input id="key" name="key" type="password" maxlength="128"
autocomplete="off" autocapitalize="off" spellcheck="false" ${described}>
<p class="warning">Allow this only if you were just using ${name} and it sent you here. Before you paste your key, check
that the address bar shows your Liftgraph. Revoking the key later ends this access at once.</p>
<div class="choice">
<button name="decision" value="allow">Allow</button>
<button class="no" name="decision" value="deny" formnovalidate>Don’t allow</button>
</div>
</form>`,
    STYLE,
  );
}

/** Tells what is wrong with a request that must not be answered anywhere else. */
export function refusalPage(message: string): string {
  return document(
    'Not possible · Liftgraph',
    `<h1>This link does not work</h1>\n<p class="fault" role="alert">${escape(message)}</p>`,
    STYLE,
  );
}
