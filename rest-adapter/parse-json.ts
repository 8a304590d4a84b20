import { jsonExtent } from '../platform/json-extent.ts';
import { ProblemError } from '../schema/problems.ts';

/** Deeper nesting than any body of the contract has by far. */
const MAX_DEPTH = 64;
const MAX_VALUES = 20_000;

/**
 * Parses a JSON body strictly (I-JSON, RFC 7493): UTF-8, no duplicate member names, no lone surrogates, no NUL
 * characters (PostgreSQL cannot store them), bounded nesting.
 * @param maxValues members and elements of all objects and arrays together
 * @throws ProblemError `invalid_request` that says what is wrong.
 */
export function parseJson(bytes: Uint8Array, maxValues: number = MAX_VALUES): unknown {
  // Before it is parsed, which is what they cost.
  const { values, depth } = jsonExtent(bytes);
  if (depth > MAX_DEPTH) throw malformed(`it is nested deeper than ${MAX_DEPTH} levels`);
  if (values > maxValues) throw malformed(`it holds more than ${maxValues} values`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw malformed('it is not UTF-8', cause);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed('it is not JSON', cause);
  }
  // The text is known to be JSON from here on, so that the scan may trust its grammar.
  scan(text);
  return value;
}

/**
 * Walks the text once: member names by the object that they stand in, strings by their characters.
 */
function scan(text: string): void {
  const open: (Set<string> | null)[] = [];
  let isName = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
        open.push(new Set());
        isName = true;
        break;
      case 0x5b: // [
        open.push(null);
        isName = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        break;
      case 0x2c: // ,
        isName = open.at(-1) instanceof Set;
        break;
      case 0x3a: // :
        isName = false;
        break;
      case 0x22: {
        // "
        const end = endOfString(text, at);
        checkString(text, at, end, isName ? open.at(-1)! : null);
        at = end;
        break;
      }
      default:
    }
  }
}

/** Index of the quote that closes the string opened at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
}

function checkString(text: string, start: number, end: number, names: Set<string> | null): void {
  const raw = text.slice(start + 1, end);
  const string = raw.includes('\\') ? (JSON.parse(text.slice(start, end + 1)) as string) : raw;
  if (!string.isWellFormed()) throw malformed('a string holds half of a surrogate pair');
  if (string.includes('\0')) throw malformed('a string holds the NUL character');
  if (names === null) return;
  if (names.has(string))
    throw malformed(`the member ${JSON.stringify(string.slice(0, 80))} stands twice in one object`);
  names.add(string);
}

function malformed(why: string, cause?: unknown): ProblemError {
  return new ProblemError('invalid_request', `The body cannot be read: ${why}.`, {
    code: 'malformed_json',
    param: '',
    ...(cause === undefined ? {} : { cause }),
  });
}
