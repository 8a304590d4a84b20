const SPACE = 0x20;
const CONTROL_PICTURES = 0x2400;

/**
 * Text from a file as a message may quote it: control characters as their pictures (U+2400 to U+241F), since PostgreSQL
 * stores no NUL.
 */
export function printable(text: string): string {
  return Array.from(text, (character) => {
    const code = character.codePointAt(0)!;
    return code < SPACE ? String.fromCodePoint(CONTROL_PICTURES + code) : character;
  }).join('');
}
