import type { Context } from 'koa';
import { ProblemError } from '../schema/problems.ts';
import { readWholeBody } from './body-stream.ts';
import { parseMediaType } from './media-type.ts';

/** A few short fields. */
const MAX_BYTES = 4096;
const DEFAULT_TIMEOUT_MS = 15_000;

/** Sends a page with a form, or with secrets: nothing of it may stay behind, be framed, or load anything. */
export function showForm(http: Context, status: number, html: string): void {
  http.status = status;
  http.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  });
  http.type = 'text/html';
  http.body = html;
}

/**
 * The form has to come from our own page; browsers say where one comes from.
 * @throws ProblemError `insufficient_permissions`
 */
export function assertOwnForm(http: Context): void {
  const site = http.get('Sec-Fetch-Site');
  const origin = http.get('Origin');
  const isForeign = site !== '' ? site !== 'same-origin' && site !== 'none' : origin !== '' && (!URL.canParse(origin) || new URL(origin).host !== http.host);
  if (isForeign) throw new ProblemError('insufficient_permissions', 'This form was sent from another page. Open the page here and send it again.', { code: 'foreign_form' });
}

/** @throws ProblemError `unsupported_media_type`, `payload_too_large`, `invalid_request` */
export async function readForm(http: Context, timeoutMs: number = DEFAULT_TIMEOUT_MS): Promise<URLSearchParams> {
  if (parseMediaType(http.get('Content-Type')).essence !== 'application/x-www-form-urlencoded') throw new ProblemError('unsupported_media_type', 'Send the form of the page.');
  return new URLSearchParams((await readWholeBody(http.req, { maxBytes: MAX_BYTES, idleTimeoutMs: timeoutMs, totalTimeoutMs: timeoutMs })).toString('utf8'));
}
