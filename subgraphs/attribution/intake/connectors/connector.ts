import type { z } from 'zod';
import type { SOURCE_TYPES } from '../../../../schema/value-lists.ts';
import type { RecordsBody } from './records-body.ts';

export type SourceType = (typeof SOURCE_TYPES)[number];

interface ConnectorOf<Credentials> {
  readonly type: SourceType;
  /** What a source is called that was given no name, and its origin in messages. */
  readonly title: string;
  /** What `credentials` are. What it gives out is stored and parsed again, so it must take that as well. */
  readonly credentials: z.ZodType<Credentials>;
}

/** A type of source whose rows we fetch. Its credentials are stored, sealed. */
export interface FetchingConnector<Credentials = unknown> extends ConnectorOf<Credentials> {
  /**
   * Finds out whether the credentials are good, before a source is made with them.
   * @throws SourceRefusedError when they are not; whatever else is thrown means that nobody knows
   */
  check(credentials: Credentials, signal: AbortSignal): Promise<void>;
  /**
   * The rows that came or changed since then, or all of them for null: since the last sync that went well, at first
   * since the first day that the source was connected with. Each body becomes an upload of its own, and may
   * hold as much as an upload may; so there is one for each kind of rows rather than for each page. Rows that were
   * fetched before may come again: they are upserted by natural key.
   * @throws SourceRefusedError when trying again is of no use; after anything else the sync is tried again
   */
  fetch(credentials: Credentials, since: Date | null, signal: AbortSignal): AsyncIterable<RecordsBody>;
}

/** What comes along with the connection of a source whose rows are sent to it. */
export interface SentRows {
  /** What the sender calls the rows; null where he does not say. */
  readonly name: string | null;
  /** What stands between cells; null finds out. */
  readonly delimiter: string | null;
  /** Canonical column → the file's own name. */
  readonly mapping: Readonly<Record<string, string>> | null;
  /** The first rows, as CSV; null where they come later. */
  readonly rows: Buffer | null;
}

/** A type of source whose rows are sent to it, with the connection or later. */
export interface ReceivingConnector<Credentials = unknown> extends ConnectorOf<Credentials> {
  /** @throws ProblemError `validation_error` that names members below `/credentials` */
  read(credentials: Credentials): SentRows;
}

/** The port behind which every type of data source stands. */
export type Connector = FetchingConnector | ReceivingConnector;

/**
 * The origin of a source refuses, and will go on until somebody does something about it. The message is shown to the
 * customer: it must say what to do, and must not repeat credentials.
 */
export class SourceRefusedError extends Error {
  override readonly name = 'SourceRefusedError';
  readonly code: string;

  constructor(message: string, code = 'credentials_rejected') {
    super(message);
    this.code = code;
  }
}
