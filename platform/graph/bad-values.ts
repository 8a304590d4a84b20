/**
 * The message of graphql-js about a value that does not fit, without the value: it may be a secret that was put in
 * the wrong place, and errors travel far. Where the value stands and what was expected stay.
 *
 * A value may be a megabyte of what these phrases begin with. Each is looked for once: a regular expression would begin
 * anew at every one.
 */
export function withoutValue(message: string): string {
  return [unrepresentable, invalid, notInEnum, unexpectedType, unexpectedString].reduce(
    (text, clean) => clean(text),
    message,
  );
}

/** `Int cannot represent non-integer value: "…"` */
function unrepresentable(message: string): string {
  const phrase = message.indexOf(' cannot represent ');
  const value = phrase < 0 ? -1 : message.indexOf(':', phrase);
  return value < 0 ? message : `${message.slice(0, value)}.`;
}

/** Its place, and what was expected, which begins with a type (`Int`) or a word such as `Field`, `Expected`, `Enum`. */
const BEHIND_VALUE = /(?: at "[\w.[\]]+")?; [A-Z]\w* /g;

/** `Variable "$a" got invalid value "…" at "a.b"; Expected type …` */
function invalid(message: string): string {
  const phrase = message.indexOf(' got invalid value ');
  if (phrase < 0) return message;
  BEHIND_VALUE.lastIndex = phrase;
  const kept = BEHIND_VALUE.exec(message);
  return kept === null ? message : `${message.slice(0, phrase)} got an unfit value${message.slice(kept.index)}`;
}

/** `Value "…" does not exist in "Model" enum.` */
function notInEnum(message: string): string {
  const [opening, closing] = ['Value "', '" does not exist in '];
  const separated = message.indexOf(`; ${opening}`);
  const start = message.startsWith(opening) ? 0 : separated < 0 ? -1 : separated + 2;
  const end = message.lastIndexOf(closing);
  return start < 0 || end < start + opening.length
    ? message
    : `${message.slice(0, start)}The value${message.slice(end + 1)}`;
}

/** `Expected value of type "Model!", found …` */
function unexpectedType(message: string): string {
  const expected = /Expected (?:value of )?type /g;
  while (expected.exec(message) !== null) {
    const comma = message.indexOf(',', expected.lastIndex);
    if (comma < 0) return message;
    if (message.startsWith(', found ', comma)) return `${message.slice(0, comma)}.`;
    expected.lastIndex = comma;
  }
  return message;
}

/** `Expected Name, found String "…"` */
function unexpectedString(message: string): string {
  return message.replace(/((?:Unexpected|found) (?:Block)?String) "[\s\S]*$/, '$1.');
}
