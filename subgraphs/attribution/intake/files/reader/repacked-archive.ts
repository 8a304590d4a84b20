import { unzipSync, zipSync } from 'fflate';

/** What was asked for unfolds to more than it may. */
export class ArchiveTooLargeError extends Error {
  override readonly name = 'ArchiveTooLargeError';
}

/**
 * The wanted files of a ZIP archive as one that is not packed. They are found by its directory: whoever reads an
 * archive from front to back waits for what its heads promise. No file takes more room than the directory says of it,
 * so what that says in all is the bound.
 * @throws ArchiveTooLargeError, and Error where the archive is damaged
 */
export function repackedArchive(
  archive: Uint8Array,
  isWanted: (name: string) => boolean,
  maxBytes: number,
): Uint8Array<ArrayBuffer> {
  let left = maxBytes;
  const files = unzipSync(archive, {
    filter({ name, originalSize }) {
      if (!isWanted(name)) return false;
      left -= originalSize;
      if (left < 0) throw new ArchiveTooLargeError();
      return true;
    },
  });
  return zipSync(files, { level: 0 });
}
