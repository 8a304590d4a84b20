import { PROBLEM_TYPES, type ProblemType } from '../schema/problems.ts';
import { API_VERSIONS } from '../schema/value-lists.ts';
import { ERROR_GUIDE } from './error-guide.ts';
import { CURRENT_VERSION, deprecationOf } from './versions.ts';

const STYLE = `
:root {
  color-scheme: light dark;
  --ink: #17202a; --soft: #5a6775; --line: #dfe5ea; --paper: #fff; --accent: #0b6e5f; --wash: #f2f7f6
}
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8edf0; --soft: #9aa8b3; --line: #2b3640; --paper: #12181d; --accent: #58c9b4; --wash: #18222a }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.6 system-ui, sans-serif }
main { max-width: 42rem; margin: 0 auto; padding: 4rem 1.5rem }
nav { font-size: .9rem; margin-bottom: 3rem } a { color: var(--accent) }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .5rem; text-wrap: balance }
h2 { font-size: .8rem; letter-spacing: .08em; text-transform: uppercase; color: var(--soft); margin: 2.25rem 0 .5rem }
p { margin: 0 }
code { font: .9em ui-monospace, monospace; background: var(--wash); padding: .1em .4em; border-radius: 4px }
.status { color: var(--soft) }
pre {
  background: var(--wash); border: 1px solid var(--line); border-radius: 8px; padding: 1rem; overflow-x: auto;
  font: .85rem/1.5 ui-monospace, monospace
}
table { border-collapse: collapse; width: 100%; margin-top: 1.5rem }
td, th {
  text-align: left; vertical-align: top;
  padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line)
}
`;

const META = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">';

/** The page of one error type: what it is, why it happens, what to do. */
export function errorPage(type: ProblemType): string {
  const { status, title } = PROBLEM_TYPES[type];
  const { cause, cure, example: { message, ...more } = { message: `${title}.` } } = ERROR_GUIDE[type];
  const example = JSON.stringify(
    { error: { type, message, request_id: 'req_…', doc_url: `…/docs/errors/${type}`, ...more } },
    null,
    2,
  );
  return document(
    `${type} · Liftgraph`,
    `<nav><a href="../errors">All errors</a> · <a href="../../docs">API reference</a></nav>
<h1>${escape(title)}</h1>
<p class="status"><code>${type}</code> · HTTP ${status}</p>
<h2>Cause</h2><p>${escape(cause)}</p>
<h2>Cure</h2><p>${escape(cure)}</p>
<h2>What it looks like</h2><pre>${escape(example)}</pre>`,
  );
}

/** All error types on one page. */
export function errorIndexPage(): string {
  const rows = Object.entries(PROBLEM_TYPES).map(
    ([type, { status, title }]) =>
      `<tr><td>${status}</td><td><a href="errors/${type}"><code>${type}</code></a></td><td>${escape(title)}</td></tr>`,
  );
  return document(
    'Errors · Liftgraph',
    `<nav><a href="../docs">API reference</a></nav>
<h1>Errors</h1>
<p>Every answer outside 2xx carries one of these types.</p>
<table>${rows.join('\n')}</table>`,
  );
}

/** The dated versions and their support. */
export function versionsPage(): string {
  const rows = API_VERSIONS.map((version) => {
    const deprecation = deprecationOf(version);
    const state =
      deprecation === undefined
        ? version === CURRENT_VERSION
          ? 'current'
          : 'supported'
        : `deprecated on ${day(deprecation.deprecatedAt)}, supported until ${day(deprecation.sunsetAt)}`;
    return `<tr><td><code>${version}</code></td><td>${state}</td></tr>`;
  });
  return document(
    'Versions · Liftgraph',
    `<nav><a href="../docs">API reference</a></nav>
<h1>Versions</h1>
<p>Choose one with the header <code>SVC-API-Version</code>; without it the current version answers. New fields and
operations come without a new version.</p>
<table>${rows.join('\n')}</table>`,
  );
}

const REFERENCE_STYLE = `
body { margin: 0 }
.guides { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; padding: .75rem 1.5rem; background: #17202a }
.guides a { color: #e8edf0; font: 15px/1.6 system-ui, sans-serif } .swagger-ui .operation-filter-input { width: 100% }
/* The filter is for operations; what webhooks tell would stand below whatever it finds. */
body:has(.operation-filter-input:not(:placeholder-shown)) .webhooks { display: none }
`;

/** The API reference: Swagger UI from local files. */
export function referencePage(): string {
  return `<!doctype html>
<html lang="en"><head>${META}<title>API reference · Liftgraph</title>
<link rel="icon" href="docs/assets/favicon-32x32.png"><link rel="stylesheet" href="docs/assets/swagger-ui.css"></head>
<body><style>${REFERENCE_STYLE}</style>
<nav class="guides"><a href="docs/guides">Guides</a><a href="docs/guides/operating/retries">Retries</a><a
 href="docs/guides/operating/uploads">Uploads</a><a href="docs/guides/operating/webhooks">Webhooks</a><a
 href="docs/guides/operating/sandbox">Sandbox</a><a href="docs/errors">Errors</a><a
 href="docs/versions">Versions</a><a href="graphql">GraphiQL</a><a href="openapi.json">OpenAPI</a></nav>
<div id="reference"></div>
<script src="docs/assets/swagger-ui-bundle.js"></script><script src="docs/assets/start.js"></script></body></html>
`;
}

/**
 * Starts Swagger UI. State-changing requests get a fresh nonce, so that “Try it out” just works. Requests go to the
 * origin that the page came from, which may have another name than the public one (localhost, a private address):
 * the page's security policy lets it speak to no other.
 */
export const START_SCRIPT = `(async (script) => {
  const spec = await (await fetch(new URL('../../openapi.json', script))).json();
  const here = (url) => new URL(new URL(url).pathname, location.href).href;
  spec.servers = spec.servers.map((server) => ({ ...server, url: here(server.url) }));
  window.ui = SwaggerUIBundle({
    spec,
    dom_id: '#reference',
    deepLinking: true,
    persistAuthorization: true,
    validatorUrl: null,
    filter: true,
    plugins: [{ fn: { opsFilter: byWords } }],
    requestInterceptor(request) {
      if (!['GET', 'HEAD'].includes((request.method || 'GET').toUpperCase())) request.headers['X-Nonce'] = newNonce();
      return request;
    },
  });
  // Keeps the operations that have every word in path, summary or tag; Swagger UI's own filter knows tags alone.
  function byWords(taggedOps, phrase) {
    const words = phrase.toLowerCase().split(/\\s+/).filter(Boolean);
    const said = (tag, op) =>
      [tag, op.get('method'), op.get('path'), op.getIn(['operation', 'summary'])].join(' ').toLowerCase();
    return taggedOps
      .map((group, tag) => group.update('operations', (ops) =>
        ops.filter((op) => words.every((word) => said(tag, op).includes(word)))))
      .filter((group) => group.get('operations').size > 0);
  }
  // Browsers make UUIDs only where the address is https or this machine.
  function newNonce() {
    const hex = (byte) => byte.toString(16).padStart(2, '0');
    return crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), hex).join('');
  }
})(document.currentScript.src);
`;

/** A page in the house style; `style` adds what it alone needs. */
export function document(title: string, body: string, style = ''): string {
  return `<!doctype html>
<html lang="en"><head>${META}<title>${escape(title)}</title>
<link rel="icon" href="data:,"><style>${STYLE}${style}</style></head>
<body><main>
${body}
</main></body></html>
`;
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Text as HTML, between tags and in quoted attributes. */
export function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
