import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Logger } from '../platform/telemetry/logs.ts';

/** Certificate chain and private key, PEM. */
export interface CertificatePair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** A certificate in files that somebody (an ACME client) replaces now and then. */
export interface Certificate {
  current(): CertificatePair;
  /** Calls back with every pair that replaces the current one. */
  whenReplaced(use: (pair: CertificatePair) => void): void;
  /** Stops looking. */
  close(): void;
}

/** The files cannot be served with; the message names them. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

export interface CertificateOptions {
  readonly certFile: string;
  readonly keyFile: string;
  readonly logger: Logger;
  /**
   * How often the files are looked at; a minute unless given. Watching would miss what is replaced by renaming or on
   * network drives.
   */
  readonly lookMs?: number;
}

const LOOK_MS = 60_000;

/**
 * Reads a certificate and looks for newer ones. A pair that does not fit together is left aside until it does. @throws
 * CertificateError
 */
export function openCertificate({ certFile, keyFile, logger, lookMs = LOOK_MS }: CertificateOptions): Certificate {
  const read = (): CertificatePair => {
    try {
      const pair = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
      createSecureContext(pair);
      return pair;
    } catch (error) {
      throw new CertificateError(
        `TLS_CERT_FILE ${certFile} and TLS_KEY_FILE ${keyFile} cannot be served with: ${(error as Error).message}`,
        { cause: error },
      );
    }
  };
  let pair = read();
  const users = new Set<(pair: CertificatePair) => void>();
  const look = (): void => {
    try {
      const found = read();
      if (found.cert.equals(pair.cert) && found.key.equals(pair.key)) return;
      pair = found;
      for (const use of users) use(pair);
      logger.info({ certFile }, 'serving with a new certificate');
    } catch (error) {
      logger.warn({ err: error }, 'the certificate files cannot be used; the previous certificate stays');
    }
  };
  const timer = setInterval(look, lookMs).unref();
  return {
    current: () => pair,
    whenReplaced: (use) => void users.add(use),
    close: () => clearInterval(timer),
  };
}
