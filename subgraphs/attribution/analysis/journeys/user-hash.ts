const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a, 32 bit (Fowler, Noll, Vo; draft-eastlake-fnv), over `bytes[start .. end)`. */
export function fnv1a32(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  let hash = OFFSET_BASIS;
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ bytes[i]!, PRIME);
  return hash >>> 0;
}
