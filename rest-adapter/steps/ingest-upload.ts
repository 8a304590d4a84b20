import type { z } from 'zod';
import { sentRecords, sentRows } from '../../schema/contract/ingest.ts';
import { ProblemError } from '../../schema/problems.ts';
import { whileCredentialLasts } from '../../services/identity/admission/while-credential-lasts.ts';
import { digestOf } from '../../services/idempotency/content-digest.ts';
import { recordEnvelope } from '../../services/trust/envelope.ts';
import { BODY_TIMEOUT_MS, bodyStream, MEBIBYTE, readWholeBody, type BodyLimits } from '../body-stream.ts';
import { contentKind, type Call, type RecordUpload, type Step } from '../call.ts';
import { isUtf8, parseMediaType } from '../media-type.ts';
import { onlyFile } from '../multipart.ts';
import type { Json } from '../operation.ts';
import { parseJson } from '../parse-json.ts';
import { presentTrust } from '../representations/trust-envelope.ts';
import { uploadOptions, type UploadOptions } from '../../schema/contract/upload-options.ts';
import { faultsIn, jsonPointer, requestProblem, withoutNulls, type NamePath } from '../../schema/request-faults.ts';
import { unknownMembers } from '../../schema/unknown-members.ts';
import { bodyMediaType, partMediaType, uploadEncoding } from '../upload-media.ts';
import { CURRENT_VERSION } from '../versions.ts';
import { whileAdmitted } from '../while-admitted.ts';

/** Of a thousand rows. */
const MAX_ROW_VALUES = 100_000;
const MAX_OPTION_VALUES = 1_000;

/** Reads rows that are sent as JSON; files stay in the request as streams. */
export const readRows: Step = {
  name: 'read-rows',
  problems: ['invalid_request', 'payload_too_large', 'unsupported_media_type'],
  async run(call, next) {
    const { http } = call;
    const sent = parseMediaType(http.get('Content-Type'));
    if (sent.essence === 'application/json') {
      if (uploadEncoding(http.get('Content-Encoding')) !== 'identity' || !isUtf8(sent))
        throw new ProblemError('unsupported_media_type', 'Send JSON rows uncompressed and in UTF-8, or as a file.', {
          param: 'header:Content-Encoding',
        });
      const { maxBytes, idleTimeoutMs } = limitsOf(call);
      const reading = readWholeBody(http.req, {
        maxBytes: Math.min(MEBIBYTE, maxBytes),
        idleTimeoutMs,
        totalTimeoutMs: idleTimeoutMs,
      });
      call.bodyBytes = await whileCredentialLasts((ended) => call.whenEnded(ended), reading);
      call.body = parseJson(call.bodyBytes, MAX_ROW_VALUES);
    }
    await next();
  },
};

/** Tells the content of an upload from that of another; null for rows as JSON. Reads the body. */
export async function streamedDigest(call: Call): Promise<string | null> {
  return call.bodyBytes === undefined ? openUpload(call, (upload) => digestOf(contentKind(upload), upload.body)) : null;
}

/** Streams the body of an upload into the ingest port; only rows sent as JSON are read and checked here. */
export const ingestUpload: Step = {
  name: 'ingest-upload',
  problems: ['invalid_request', 'payload_too_large', 'unsupported_media_type', 'validation_error'],
  async run(call) {
    const { operation, request, door } = call;
    const { id } = request.path as { readonly id: string };
    if (request.query['dry_run'] === true) return inspect(call, id);
    const outcome = await openUpload(call, (upload) => door.ingestRecords(call.context, id, upload));
    call.contentDigest = outcome.contentDigest ?? null;
    const body: Json = {
      ...(outcome.uploadId === undefined ? {} : { upload_id: outcome.uploadId }),
      status: outcome.status,
      failure: outcome.failure,
      kind: outcome.kind,
      accepted: outcome.accepted,
      rejected: outcome.rejected,
      errors: outcome.errors.map(({ line, column, code, message }) => ({ line, column, code, message })),
      warnings: outcome.warnings,
      trust: presentTrust(recordEnvelope(outcome.accepted, door.clock(), CURRENT_VERSION)),
    };
    const headers: Record<string, string> =
      outcome.rejected > 0 ? { Location: `${call.baseUrl}${operation.location!(body, request)}` } : {};
    call.answer = { status: operation.success.status, body, headers };
  },
};

/** How the rows would be read; nothing happens, so that there is nothing to keep under an idempotency key either. */
async function inspect(call: Call, id: string): Promise<void> {
  const { door } = call;
  const found = await openUpload(call, (upload) => door.inspectRecords(call.context, id, upload));
  call.answer = {
    status: 200,
    body: {
      ...found,
      errors: found.errors.map(({ line, column, code, message }) => ({ line, column, code, message })),
      trust: presentTrust(recordEnvelope(found.accepted, door.clock(), CURRENT_VERSION)),
    },
    headers: {},
  };
}

/**
 * Names places as the request does: where a connection has a member for a file, an upload is the file, or has its rows
 * in a member; what was said of it stands in the query or in a part of the form.
 */
function blamingRequest(call: Call, sent: UploadOptions, error: unknown): unknown {
  if (!(error instanceof ProblemError)) return error;
  const place = call.bodyBytes === undefined || Array.isArray(call.body) ? '' : '/records';
  return error.renaming((pointer) => {
    const [member = ''] = pointer.slice(1).split('/');
    if (member === 'content') return place;
    if (Object.hasOwn(sent, member)) return `/options${pointer}`;
    return /^\/(mapping|constants|preset)\b/.test(pointer) ? `query:${member}` : pointer;
  });
}

/** Finds the rows in the request, whichever way they were sent, and hands them on. */
async function openUpload<T>(call: Call, take: (upload: RecordUpload) => Promise<T>): Promise<T> {
  const ingest = (upload: RecordUpload, sent: UploadOptions = {}): Promise<T> =>
    take({ ...upload, options: { ...upload.options, ...sent } }).catch((error: unknown) => {
      throw blamingRequest(call, sent, error);
    });
  const { http } = call;
  const options = optionsIn(call.request.query);
  if (call.bodyBytes !== undefined) {
    const body = bytesOf(jsonRows(call, call.bodyBytes));
    return ingest({ mediaType: 'application/json', contentEncoding: 'identity', options, body });
  }
  const limits = limitsOf(call);
  const sent = parseMediaType(http.get('Content-Type'));
  const contentEncoding = uploadEncoding(http.get('Content-Encoding'));

  if (sent.essence === 'multipart/form-data') {
    if (contentEncoding !== 'identity')
      throw new ProblemError('unsupported_media_type', 'Compress the file inside the form, not the form.', {
        param: 'header:Content-Encoding',
      });
    return onlyFile(http.req.headers, whileAdmitted(call, bodyStream(http.req, limits)), (file) => {
      const sent = sentOptions(file.options);
      const { contentEncoding, fileName, body } = file;
      return ingest({ mediaType: partMediaType(file), contentEncoding, fileName, options, body }, sent);
    });
  }
  const mediaType = bodyMediaType(sent.essence);
  if (!isUtf8(sent))
    throw new ProblemError('unsupported_media_type', 'Send text/csv or application/x-ndjson in UTF-8.', {
      code: 'unsupported_encoding',
      param: 'header:Content-Type',
    });
  // A port may wrap what it caught from the stream; the limit that was hit is what the client must hear.
  const guarded = remembering(whileAdmitted(call, bodyStream(http.req, limits)));
  try {
    return await ingest({ mediaType, contentEncoding, options, body: guarded.body });
  } catch (error) {
    throw guarded.failure() ?? error;
  }
}

/** What the parameters of the request say of the rows. */
function optionsIn(query: Json): UploadOptions {
  return Object.fromEntries(
    Object.keys(uploadOptions.shape).flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])),
  );
}

/** What a part of the form says of the rows. @throws ProblemError `validation_error`, places below `/options` */
function sentOptions(text: string | undefined): UploadOptions {
  if (text === undefined) return {};
  const value = withoutNulls(uploadOptions, readOptions(text));
  const place: NamePath = (path) => `/options${jsonPointer(path)}`;
  const strangers = unknownMembers(uploadOptions, value, 'unknown_member', place);
  const parsed = faultsIn(uploadOptions, value, place);
  if (strangers.length > 0 || parsed.faults !== null)
    throw requestProblem('validation_error', [...strangers, ...(parsed.faults ?? [])]);
  return parsed.value;
}

function readOptions(text: string): unknown {
  try {
    return parseJson(Buffer.from(text), MAX_OPTION_VALUES);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const fault = { param: '/options', code: 'invalid_json', message: 'must be JSON' };
    throw requestProblem('validation_error', [fault]);
  }
}

function limitsOf({ door }: Call): BodyLimits {
  return { maxBytes: door.config.uploadMaxBytes, idleTimeoutMs: door.config.bodyTimeoutMs ?? BODY_TIMEOUT_MS };
}

function remembering(source: AsyncIterable<Buffer>): {
  readonly body: AsyncIterable<Uint8Array>;
  failure(): ProblemError | undefined;
} {
  let failure: ProblemError | undefined;
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      yield* source;
    } catch (error) {
      if (error instanceof ProblemError) failure = error;
      throw error;
    }
  }
  return { body: body(), failure: () => failure };
}

/**
 * The rows as one JSON array: the bytes as they came, or the `records` member written anew.
 * @throws ProblemError `validation_error`, with nothing stored
 */
function jsonRows(call: Call, bytes: Buffer): Uint8Array {
  const schema = schemaOfRows(call);
  const errors = [
    ...unknownMembers(schema, call.body, 'unknown_member', jsonPointer),
    ...(faultsIn(schema, call.body).faults ?? []),
  ];
  if (errors.length > 0) throw requestProblem('validation_error', errors);
  return Array.isArray(call.body) ? bytes : Buffer.from(JSON.stringify((call.body as Json)['records']));
}

/** That of the form that was chosen, so that a fault has its place in it. */
function schemaOfRows({ body, operation }: Call): z.ZodType {
  if (Array.isArray(body)) return sentRows;
  return typeof body === 'object' && body !== null ? sentRecords : operation.bodySchema!;
}

async function* bytesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
