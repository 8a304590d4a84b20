/** Older ways to write text, named as in the Encoding Standard. https://encoding.spec.whatwg.org/#names-and-labels */
export const LEGACY_ENCODINGS = [
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'koi8-r',
  'shift_jis',
  'euc-jp',
  'euc-kr',
  'gb18030',
  'big5',
] as const;
export type LegacyEncoding = (typeof LEGACY_ENCODINGS)[number];

/** Of the characters beyond ASCII, so many have to be of the script; a sign of a currency is of none. */
const LEAST_OF_SCRIPT = 0.9;
/** Other scripts stand beside Latin letters, not within their words: `Größe` is no Chinese. */
const MOST_WITHIN_WORDS = 0.3;
/** Of so many characters, chance does not make all look like those of another script. */
const ENOUGH = { hangul: 8, han: 40 } as const;
/** Hiragana and Katakana stand between the Kanji of most Japanese text; GB 18030 has them where EUC-JP does. */
const LEAST_KANA = 0.1;
/** Of Chinese characters in Big5, so many have a second byte that is ASCII; none of the usual ones in GB 18030 has. */
const LEAST_SPLIT = 0.1;

const FULL_WIDTH = String.raw`\u3000-\u303F\uFF01-\uFF5E`;
const HAN = new RegExp(String.raw`[\p{Script=Han}${FULL_WIDTH}]`, 'gu');
const KANA = /[\u3040-\u30FF]/gu;
const HANGUL = /[\uAC00-\uD7A3]/gu;
const CYRILLIC = /[\u0400-\u045F]/gu;
const CYRILLIC_SMALL = /[\u0430-\u045F]/gu;
const BEYOND_ASCII = /\P{ASCII}/gu;
const RUNS = /[A-Za-z]?\P{ASCII}+[A-Za-z]?/gu;

const count = (text: string, what: RegExp): number => text.match(what)?.length ?? 0;
const hasKana = (text: string): boolean => count(text, KANA) >= LEAST_KANA * count(text, BEYOND_ASCII);
const isSplit = (text: string, bytes: number): boolean =>
  2 * count(text, BEYOND_ASCII) - bytes >= LEAST_SPLIT * count(text, BEYOND_ASCII);

/** How many characters of the script text in this encoding would have. @param bytes how many are beyond ASCII */
const SCRIPTS: Readonly<Partial<Record<LegacyEncoding, (text: string, bytes: number) => number>>> = {
  shift_jis: (text) => count(text, HAN) + count(text, KANA),
  'euc-jp': (text) => (hasKana(text) || count(text, HAN) < ENOUGH.han ? count(text, HAN) + count(text, KANA) : 0),
  'euc-kr': (text) => count(text, HANGUL),
  gb18030: (text, bytes) => (hasKana(text) || isSplit(text, bytes) ? 0 : count(text, HAN)),
  big5: (text, bytes) => (isSplit(text, bytes) ? count(text, HAN) : 0),
  'windows-1251': ofSmallLetters,
  'koi8-r': ofSmallLetters,
};

/** The two have small letters where the other has capitals. */
function ofSmallLetters(text: string): number {
  const letters = count(text, CYRILLIC);
  return 2 * count(text, CYRILLIC_SMALL) > letters ? letters : 0;
}

/**
 * In which encodings a text that is no UTF-8 may be written: one where it is sure.
 * @param sample whole lines of it that hold bytes beyond ASCII
 */
export function legacyEncodingsOf(sample: Uint8Array): readonly LegacyEncoding[] {
  const bytes = sample.reduce((sum, byte) => sum + (byte >> 7), 0);
  const fitting = Object.entries(SCRIPTS).flatMap(([encoding, inScript]) => {
    const text = new TextDecoder(encoding).decode(sample);
    const isOfScript = inScript(text, bytes) >= LEAST_OF_SCRIPT * count(text, BEYOND_ASCII);
    return !text.includes('\uFFFD') && isOfScript && !isWithinWords(text)
      ? [{ encoding: encoding as LegacyEncoding, text }]
      : [];
  });
  const korean = fitting.find(({ encoding, text }) => encoding === 'euc-kr' && count(text, HANGUL) >= ENOUGH.hangul);
  if (korean !== undefined) return [korean.encoding];
  if (fitting.length > 0) return fitting.map(({ encoding }) => encoding);
  return [isCentralEuropean(sample) ? 'windows-1250' : 'windows-1252'];
}

function isWithinWords(text: string): boolean {
  const runs = text.match(RUNS) ?? [];
  return runs.filter((run) => /[A-Za-z]/.test(run)).length > MOST_WITHIN_WORDS * runs.length;
}

/** `³`, `¹`, `¿` within words are `ł`, `ą`, `ż`; `ø` beside `ì`, `è` or `ù` is `ř` beside `ě`, `č` or `ů`. */
function isCentralEuropean(sample: Uint8Array): boolean {
  const text = Buffer.from(sample).toString('latin1');
  return (
    /\p{L}[\u00B3\u00B9\u00BF]|[\u00B3\u00B9\u00BF]\p{L}/u.test(text) ||
    (/\u00F8/u.test(text) && /[\u00EC\u00E8\u00F9]/u.test(text))
  );
}
