import type { OpenedAccount } from '../../services/identity/opening/open-account.ts';
import { document, escape } from '../pages.ts';

const STYLE = `
h1 { margin-bottom: .75rem } form { margin-top: 2rem }
label { display: block; font-weight: 600; margin-top: 1.25rem } .hint { color: var(--soft); font-size: .9rem }
input {
  width: 100%; margin-top: .35rem; padding: .65rem .8rem; font: 1rem ui-monospace, monospace;
  color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: 8px
}
input:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
input[aria-invalid] { border-color: #c0392b }
button {
  margin-top: 1.75rem; padding: .7rem 1.4rem; font: 600 1rem system-ui, sans-serif; cursor: pointer;
  color: var(--paper); background: var(--accent); border: 1px solid var(--accent); border-radius: 8px
}
.fault, .warning {
  margin: 1.5rem 0 0; padding: .8rem 1rem; font-size: .95rem; overflow-wrap: anywhere;
  background: var(--wash); border-left: 4px solid var(--accent); border-radius: 0 8px 8px 0
}
.fault { border-color: #c0392b }
dl { margin: 1.5rem 0 0 } dt { color: var(--soft); font-size: .9rem; margin-top: 1rem } dd { margin: .25rem 0 0 }
.key {
  display: block; padding: .65rem .8rem; border: 1px solid var(--line); border-radius: 8px;
  overflow-wrap: anywhere; user-select: all
}
pre { white-space: pre-wrap; overflow-wrap: anywhere }
`;

/** What was entered and why it did not do; the token is never shown again. */
export interface RefusedEntry {
  readonly email: string;
  readonly name: string;
  readonly message: string;
  /** Which field is to blame; null when none is. */
  readonly field: 'token' | 'email' | 'name' | null;
}

/** Asks for the token and for whom the account is. */
export function bootstrapPage(refused: RefusedEntry | null): string {
  const field = (name: 'token' | 'email' | 'name', attributes: string) => {
    const isWrong = refused?.field === name;
    return (
      `<input id="${name}" name="${name}" ${attributes} ` +
      `aria-describedby="${name}-hint${isWrong ? ' fault' : ''}"${isWrong ? ' aria-invalid="true"' : ''}>`
    );
  };
  return document(
    'The first account · Liftgraph',
    `<h1>The first account</h1>
<p class="status">Whoever runs this installation makes their account here, once. Its keys are shown on the next
page and never again.</p>
<form method="post" autocomplete="off">
${refused === null ? '' : `<p class="fault" role="alert" id="fault">${escape(refused.message)}</p>`}
<label for="token">Token</label>
<p class="hint" id="token-hint">The value of <code>BOOTSTRAP_TOKEN</code> that this installation was started with.</p>
${field('token', 'type="password" required maxlength="512" autocomplete="off" autocapitalize="off" spellcheck="false"')}
<label for="email">E-mail</label>
<p class="hint" id="email-hint">Names the account; nothing is sent to it.</p>
${field('email', `type="email" required maxlength="320" autocomplete="email" value="${escape(refused?.email ?? '')}"`)}
<label for="name">Name</label>
<p class="hint" id="name-hint">For lists. May stay empty.</p>
${field('name', `type="text" maxlength="80" autocomplete="organization" value="${escape(refused?.name ?? '')}"`)}
<button>Make the account</button>
</form>`,
    STYLE,
  );
}

/** Shows the keys, this once, and how to use them. @param baseUrl ends in `/v1` */
export function firstAccountPage({ email, pair }: OpenedAccount, baseUrl: string): string {
  return document(
    'Your keys · Liftgraph',
    `<h1>Your keys</h1>
<p class="status">The account of ${escape(email)} is there.</p>
<p class="warning" role="status"><strong>Copy both now.</strong> They are shown this once; only salted hashes are kept.
Whoever has them acts for this account.</p>
<dl>
<dt>Live key, for data of your own</dt><dd><code class="key" id="live">${pair.live.secret}</code></dd>
<dt>Test key, for the sandbox</dt><dd><code class="key" id="test">${pair.test.secret}</code></dd>
</dl>
<h2>See that it works</h2>
<pre>curl -sS ${escape(baseUrl)}/keys \\
  -H 'Authorization: Bearer ${pair.live.secret}'</pre>
<h2>Then</h2>
<p>Take <code>BOOTSTRAP_TOKEN</code> out of the configuration: it opens nothing any more.
What the keys can do stands in the <a href="docs">API reference</a>.</p>`,
    STYLE,
  );
}
