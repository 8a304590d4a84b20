/** A message in the characters that RFC 6749 §5.2 allows: printable ASCII without double quotes and backslashes. */
export function errorDescription(message: string): string {
  return message
    .replaceAll('…', '...')
    .replaceAll(/["“”’\\]/g, "'")
    .replaceAll(/[^\x20-\x7e]/g, '?');
}
