import type { Context } from 'koa';
import { ProblemError } from '../schema/problems.ts';
import { BODY_TIMEOUT_MS, readWholeBody } from './body-stream.ts';
import { parseMediaType } from './media-type.ts';

/** A few short fields. */
const MAX_BYTES = 4096;

/**
 * Sends a page with a form, or with secrets: nothing of it may stay behind, be framed, or load anything.
 * @param formAction where its form may lead, redirects included, as Content-Security-Policy writes it
 */
export function showForm(http: Context, status: number, html: string, formAction = "'self'"): void {
  http.status = status;
  http.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy':
      `default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; ` +
      `form-action ${formAction}; frame-ancestors 'none'`,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  });
  http.type = 'text/html';
  http.body = html;
}

/**
 * The form has to come from our own page; browsers say where one comes from.
 * @param remedy what its sender should do instead
 * @throws ProblemError `insufficient_permissions`
 */
export function assertOwnForm(http: Context, remedy: string): void {
  const site = http.get('Sec-Fetch-Site');
  const origin = http.get('Origin');
  const isForeign =
    site !== ''
      ? site !== 'same-origin' && site !== 'none'
      : origin !== '' && (!URL.canParse(origin) || new URL(origin).host !== http.host);
  if (isForeign)
    throw new ProblemError('insufficient_permissions', `This form was sent from another page. ${remedy}`, {
      code: 'foreign_form',
    });
}

/** @throws ProblemError `unsupported_media_type`, `payload_too_large`, `invalid_request` */
export async function readForm(http: Context, timeoutMs: number = BODY_TIMEOUT_MS): Promise<URLSearchParams> {
  if (parseMediaType(http.get('Content-Type')).essence !== 'application/x-www-form-urlencoded')
    throw new ProblemError('unsupported_media_type', 'Send the form of the page.');
  return new URLSearchParams(
    (
      await readWholeBody(http.req, { maxBytes: MAX_BYTES, idleTimeoutMs: timeoutMs, totalTimeoutMs: timeoutMs })
    ).toString('utf8'),
  );
}
