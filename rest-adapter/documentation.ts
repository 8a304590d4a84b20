import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Context } from 'koa';
import { PROBLEM_TYPES, type ProblemType } from '../schema/problems.ts';
import { guideAt } from './guides.ts';
import { buildOpenApi } from './openapi.ts';
import { errorIndexPage, errorPage, referencePage, START_SCRIPT, versionsPage } from './pages.ts';

interface Page {
  readonly type: string;
  /** One for all: texts would be encoded for each answer. */
  readonly content: Buffer;
  readonly tag: string;
}

export interface Documentation {
  /** Says whether it answered. */
  answer(http: Context): boolean;
  /** Whether there is something to read at this path. */
  has(path: string): boolean;
}

const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
};

// Swagger UI sets style attributes from its script; nothing else comes from anywhere but this server.
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src " +
  "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Serves `/openapi.json`, `/docs` (Swagger UI from local files), the guides, and the pages that `doc_url` points at;
 * `/` leads to `/docs`.
 */
export function createDocumentation(publicBaseUrl: string): Documentation {
  const pages = new Map<string, Page>();
  const assetDirectory = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

  const render = (path: string): Page | undefined => {
    if (path === '/openapi.json') return page('application/json', JSON.stringify(buildOpenApi(publicBaseUrl)));
    if (path === '/docs') return page('text/html', referencePage());
    if (path === '/docs/assets/start.js') return page('text/javascript', START_SCRIPT);
    if (path === '/docs/versions') return page('text/html', versionsPage());
    if (path === '/docs/errors') return page('text/html', errorIndexPage());
    const guide = guideAt(path);
    if (guide !== undefined) return page(guide.type, guide.content);
    const [, asset] = /^\/docs\/assets\/([\w.-]+)$/.exec(path) ?? [];
    if (asset !== undefined && Object.hasOwn(ASSETS, asset))
      return page(ASSETS[asset]!, readFileSync(join(assetDirectory, asset)));
    const [, type] = /^\/docs\/errors\/(\w+)$/.exec(path) ?? [];
    if (type !== undefined && Object.hasOwn(PROBLEM_TYPES, type))
      return page('text/html', errorPage(type as ProblemType));
    return undefined;
  };

  const find = (address: string): Page | undefined => {
    const path = address === '/docs/' ? '/docs' : address;
    const found = pages.get(path) ?? render(path);
    if (found !== undefined) pages.set(path, found);
    return found;
  };

  const answer = (http: Context): boolean => {
    if (http.method !== 'GET' && http.method !== 'HEAD') return false;
    if (http.path === '/') {
      http.redirect('docs');
      return true;
    }
    const found = find(http.path);
    if (found === undefined) return false;
    http.set({
      'Cache-Control': 'public, max-age=300',
      ETag: found.tag,
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    });
    http.status = 200;
    http.type = found.type;
    http.body = found.content;
    if (http.fresh) {
      http.status = 304;
      http.body = null;
      http.status = 304;
    }
    return true;
  };
  return { answer, has: (path) => path === '/' || find(path) !== undefined };
}

function page(type: string, content: string | Buffer): Page {
  return {
    type,
    content: Buffer.from(content),
    tag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`,
  };
}
