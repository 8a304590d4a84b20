import { hash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import type { RiskLevel } from '../../schema/trust-envelope.ts';
import { trustHeaders } from '../../schema/trust-headers.ts';
import type { Answer, Call, Step } from '../call.ts';
import { metaOf, pageLinks, rootUrl } from '../links.ts';
import type { Json } from '../operation.ts';
import { setHeaders } from '../set-headers.ts';
import { deprecationHeaders } from '../versions.ts';

/** Writes the answer that the later steps left, with the headers that every answer carries. */
export const respond: Step = {
  name: 'respond',
  problems: [],
  async run(call, next) {
    await next();
    const { http, answer } = call;
    if (answer === null) throw new Error(`no step answered ${http.method} ${http.path}`);
    const { body } = answer;
    const written = body === null || body instanceof Readable ? null : writtenBody(call, answer, body);
    const json = written?.json ?? null;
    setHeaders(http, commonHeaders(call, json ?? (answer.trust === undefined ? null : { trust: answer.trust })));
    setHeaders(http, answer.headers);
    // Beside what the cross-origin rules vary by.
    http.vary(['Accept', 'Authorization', 'SVC-API-Version']);
    const links = linksOf(call, answer, json);
    if (links !== '') http.set('Link', links);
    http.status = answer.status;
    if (body instanceof Readable) {
      writeStream(call, body, answer.mediaType);
    } else if (written === null) {
      http.body = null;
      http.status = answer.status;
    } else {
      writeJson(call, answer, written);
    }
  },
};

/** Koa would report every client that leaves a stream as an error of the application, so the stream is piped here. */
function writeStream({ http, logger }: Call, stream: Readable, mediaType?: string): void {
  // Proxies that buffer would hold events back.
  http.set(
    mediaType === undefined
      ? {
          'Content-Type': 'text/event-stream; charset=utf-8',
          'Cache-Control': 'no-store, no-transform',
          'X-Accel-Buffering': 'no',
        }
      : { 'Content-Type': mediaType },
  );
  http.respond = false;
  // Whoever left meanwhile does not leave again, and nobody else would end what is streamed.
  if (http.res.destroyed) {
    stream.destroy();
    return;
  }
  pipeline(stream, http.res, (error) => {
    if (error !== null && error !== undefined && error.code !== 'ERR_STREAM_PREMATURE_CLOSE')
      logger.warn({ err: error }, 'a stream could not be written');
  });
}

/** A body as the caller's version has it. */
interface WrittenBody {
  readonly json: Json;
  readonly bytes: Buffer;
  /** Null where the answer is not one resource. */
  readonly tag: string | null;
}

/** Calls that share an answer (see `Door.reads`) ask for the same version, so that it is written once. */
const writtenBodies = new WeakMap<Answer, WrittenBody>();

function writtenBody(call: Call, answer: Answer, body: Json): WrittenBody {
  const known = writtenBodies.get(answer);
  if (known !== undefined) return known;
  const json = call.inVersion(body);
  const text = JSON.stringify(json);
  const written = {
    json,
    bytes: Buffer.from(text),
    tag: call.route.operation?.isResource === true && answer.status === 200 ? entityTag(text) : null,
  };
  writtenBodies.set(answer, written);
  return written;
}

function writeJson({ http }: Call, answer: Answer, { bytes, tag }: WrittenBody): void {
  if (tag !== null) {
    http.res.setHeader('ETag', tag);
    if (matches(http.get('If-None-Match'), tag)) {
      http.status = 304;
      http.body = null;
      http.status = 304;
      return;
    }
  }
  http.type = answer.mediaType ?? 'application/json';
  http.body = bytes;
}

function commonHeaders(call: Call, json: Json | null): Record<string, string> {
  return {
    'Cache-Control': 'no-store',
    'SVC-API-Version': call.apiVersion,
    ...trustHeaders(trustOf(json)),
    ...(call.environment === 'sandbox' ? { 'SVC-Environment': 'sandbox' } : {}),
    'X-Content-Type-Options': 'nosniff',
    ...deprecationHeaders(call.apiVersion, rootUrl(call.door.config.publicBaseUrl)),
  };
}

/** The envelope of a body, as headers tell of it. */
function trustOf(json: Json | null): Parameters<typeof trustHeaders>[0] {
  const trust = json?.['trust'] as { readonly hrei_score: number; readonly risk_level: RiskLevel } | null | undefined;
  return trust == null ? trust : { hreiScore: trust.hrei_score, riskLevel: trust.risk_level };
}

function linksOf(call: Call, answer: Answer, json: Json | null): string {
  const { http, door } = call;
  const meta = json === null ? undefined : metaOf(json);
  const url = `${call.baseUrl}${http.path.replace(/^\/v1/, '')}`;
  const pages = meta === undefined ? '' : pageLinks(url, new URLSearchParams(http.querystring), meta);
  return [
    deprecationHeaders(call.apiVersion, rootUrl(door.config.publicBaseUrl))['Link'],
    answer.headers['Link'],
    pages,
  ]
    .filter(Boolean)
    .join(', ');
}

/** Members that reading alone moves: when the envelope was evaluated, how old the newest row is, how many calls. */
const READING_MEMBERS = /"(?:evaluated_at|freshness_seconds|total_api_calls|total_calls)":(?:"[^"]*"|[^",}\]]*)/g;

/** Weak: two bodies that differ by the moment of reading only are the same to a client (decision record 019). */
function entityTag(text: string): string {
  // Within a string the quotes of such a name would be escaped, so that none is taken for a member.
  return `W/"${hash('sha256', text.replaceAll(READING_MEMBERS, ''), 'base64url').slice(0, 27)}"`;
}

/** Weak comparison (RFC 9110 §13.1.2). */
function matches(ifNoneMatch: string, tag: string): boolean {
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((candidate) => opaque(candidate) === opaque(tag));
}

function opaque(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}
