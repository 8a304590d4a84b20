/**
 * The value, and behind it what is kept: its place, and what was expected, which begins with a type (`Int`, `Currency`)
 * or a word such as `Field`, `Expected`, `Enum`.
 */
const UNFIT_VALUE = / got invalid value [\s\S]*?((?: at "[\w.[\]]+")?; [A-Z]\w* [\s\S]*)$/;

/**
 * The message of graphql-js about a value that does not fit, without the value: it may be a secret that was put in
 * the wrong place, and errors travel far. Where the value stands and what was expected stay.
 */
export function withoutValue(message: string): string {
  return message
    .replace(/( cannot represent [^:]*):[\s\S]*$/, '$1.')
    .replace(UNFIT_VALUE, ' got an unfit value$1')
    .replace(/(; |^)Value "[\s\S]*" does not exist in /, '$1The value does not exist in ')
    .replace(/(Expected (?:value of )?type [^,]*), found [\s\S]*$/, '$1.')
    .replace(/((?:Unexpected|found) (?:Block)?String) "[\s\S]*$/, '$1.');
}
