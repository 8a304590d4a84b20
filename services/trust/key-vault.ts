import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes, type KeyObject } from 'node:crypto';

const FORMAT = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + IV_BYTES + TAG_BYTES;

/** What was sealed under another secret, for another place, or was changed since, does not open. */
export class SealBrokenError extends Error {
  override readonly name = 'SealBrokenError';
  readonly code = 'seal_broken';
}

/**
 * Seals secrets for storage: AES-256-GCM under a key derived (HKDF-SHA-256, RFC 5869) from the secret of the
 * installation, with a fresh 96-bit IV each time. `place` says where a secret belongs; it opens nowhere else.
 */
export class KeyVault {
  readonly #key: KeyObject;

  /** @param secret of the installation, at least 32 characters, the same in every process */
  constructor(secret: string) {
    this.#key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'liftgraph key encryption', 32)));
  }

  /** Format byte, IV, tag, ciphertext. */
  seal(plain: Uint8Array, place: string): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv, { authTagLength: TAG_BYTES }).setAAD(
      Buffer.from(place),
    );
    const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([Buffer.of(FORMAT), iv, cipher.getAuthTag(), ciphertext]);
  }

  /** @throws SealBrokenError */
  open(sealed: Buffer, place: string): Buffer {
    if (sealed.length < HEAD_BYTES || sealed[0] !== FORMAT)
      throw new SealBrokenError(`${place}: this is nothing that was sealed here`);
    const decipher = createDecipheriv('aes-256-gcm', this.#key, sealed.subarray(1, 1 + IV_BYTES), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(Buffer.from(place))
      .setAuthTag(sealed.subarray(1 + IV_BYTES, HEAD_BYTES));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES)), decipher.final()]);
    } catch (error) {
      throw new SealBrokenError(`${place}: it was sealed under another secret, or changed since`, { cause: error });
    }
  }
}
