import { basename } from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { uploadOptions, type UploadOptions } from '../../schema/contract/upload-options.ts';
import { BadInputError } from './bad-input-error.ts';

const MAPPING_ANSWER = 'mapping:';

/** What a command line says of files, as it was typed. */
export interface FileOptions {
  readonly map?: readonly string[];
  readonly set?: readonly string[];
  readonly answer?: readonly string[];
  readonly preset?: string;
  readonly locale?: string;
  readonly timezone?: string;
  readonly currency?: string;
}

/** Adds what can be said of files to a command that reads some. */
export function addFileOptions(command: Command): Command {
  const pairs = (flags: string, description: string) =>
    new Option(flags, description).argParser((value: string, before: readonly string[] | undefined) => {
      if (!/^.+=.+$/s.test(value)) throw new InvalidArgumentError('Give it as NAME=VALUE.');
      return [...(before ?? []), value];
    });
  return command
    .addOption(
      pairs(
        '--map <name=column>',
        'which column of the files stands for ours, such as revenue=Umsatz, or orders.csv:revenue=Umsatz for one of ' +
          'several files; repeatable',
      ),
    )
    .addOption(
      pairs(
        '--set <name=value>',
        'the value of all rows, such as channel=tv; of several files ads.csv:channel=tv; repeatable',
      ),
    )
    .addOption(
      pairs(
        '--answer <question=value>',
        'answer to a question that a file leaves open, or ads.csv:question=value; repeatable',
      ),
    )
    .option('--preset <name>', 'which export of which vendor it is (default: told from the header)')
    .option('--locale <tag>', 'how numbers and dates are written where a file can be read in two ways, such as de-DE')
    .option('--timezone <zone>', 'zone of times that say none, such as Europe/Berlin (default: UTC)')
    .option('--currency <code>', 'currency of amounts that name none, such as EUR');
}

/**
 * What was said of one file. Of several, `FILE:NAME=VALUE` says it of one; a mapping or an answer without a file holds
 * for those that have the column, and values of all rows need one.
 * @throws BadInputError that names the option and what it takes
 */
export function optionsOf(
  path: string,
  said: FileOptions,
  isOnlyFile: boolean,
): { readonly options: UploadOptions; readonly usualMapping: Readonly<Record<string, string>> } {
  const pairsOf = (pairs: readonly string[] = []): Record<string, string> =>
    Object.fromEntries(
      pairs.flatMap((pair) => {
        const text = ownPart(path, pair);
        return text === null ? [] : [[text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]];
      }),
    );
  const { preset, locale, timezone, currency } = said;
  const parsed = uploadOptions.safeParse({
    mapping: pairsOf(said.map),
    constants: pairsOf(said.set),
    answers: pairsOf(said.answer),
    ...(preset !== undefined && { preset }),
    ...(locale !== undefined && { locale }),
    ...(timezone !== undefined && { timezone }),
    ...(currency !== undefined && { currency }),
  });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const [member, name] = issue!.path.map(String);
    const option = { mapping: '--map', constants: '--set', answers: '--answer' }[member!] ?? `--${member}`;
    throw new BadInputError(`${option}${name === undefined ? '' : ` ${name}`}: ${issue!.message}.`);
  }
  if (isOnlyFile) return { options: parsed.data, usualMapping: {} };
  const isOfAll = (pair: string): boolean => ownPart(path, pair) === pair;
  const [constant] = said.set?.filter(isOfAll) ?? [];
  if (constant !== undefined)
    throw new BadInputError(
      `--set ${constant}: of several files it would change all rows of each. Say of which it is true, such as ` +
        `--set '${basename(path)}:${constant}'.`,
    );
  // What an answer says of a column is a mapping; the other files have other columns.
  const isMapping = (pair: string): boolean => isOfAll(pair) && pair.startsWith(MAPPING_ANSWER);
  const answeredMappings = said.answer?.filter(isMapping).map((pair) => pair.slice(MAPPING_ANSWER.length)) ?? [];
  return {
    options: {
      ...parsed.data,
      mapping: pairsOf(said.map?.filter((pair) => !isOfAll(pair))),
      answers: pairsOf(said.answer?.filter((pair) => !isMapping(pair))),
    },
    usualMapping: pairsOf([...(said.map?.filter(isOfAll) ?? []), ...answeredMappings]),
  };
}

/** What a pair says of a file: itself where it names no file, null where it names another. */
function ownPart(path: string, pair: string): string | null {
  const [, file, rest] = /^([^=]+\.[a-z]{2,8}(?:\.gz)?):(.+)$/is.exec(pair) ?? [];
  if (file === undefined) return pair;
  return file === path || file === basename(path) ? rest! : null;
}
