import type { ReadingOrder } from '../reading-messages.ts';
import { plainName } from './column-names.ts';
import { layoutByEventWords } from './events-by-word.ts';
import type { RecognisesHeader } from './header-search.ts';
import { layoutByPreset, presetBySignature, presetNamed } from './presets/apply-preset.ts';
import { PresetColumns } from './presets/preset-columns.ts';
import { proposeLayout } from './propose-layout.ts';
import type { Question } from './questions.ts';
import { layoutByNames, refuseColumns, type LayoutWishes, type RecordLayout } from './record-layout.ts';
import { RefusedFileError } from './refused-file.ts';
import { asRemembered } from './remembered-wishes.ts';
import type { OpenedFile } from './source-file.ts';

/** What is less sure than this is asked. */
export const ASKED_BELOW = 0.9;
const MAPPING_ANSWER = 'mapping:';

export interface FoundLayout {
  readonly layout: RecordLayout;
  readonly questions: readonly Question[];
}

/**
 * What the rows of a file are: the preset that was asked for or whose signature stands in the header, else what the
 * names of the columns say, else what stands in them.
 * @param reopened opens the file once more, to look at its first rows
 * @throws RefusedFileError where nothing can be made of the columns, or of what was said of them
 */
export async function findLayout(
  order: ReadingOrder,
  { header, namesColumns }: OpenedFile['reader'],
  reopened: () => Promise<OpenedFile>,
): Promise<FoundLayout> {
  const wishes = wishesOf(order, header);
  const known = knownLayout(order, header, namesColumns, wishes);
  const byWords = known?.preset == null ? await layoutByEventWords(header, wishes, reopened) : null;
  const layout = byWords ?? known ?? (await proposeLayout(header, wishes, reopened));
  if (layout === null) return refuseColumns(header, wishes);
  if (layout.refusal !== null && layout.refusal.rows === null) throw layout.refusal.error;
  return { layout, questions: layout.certainty < ASKED_BELOW ? mappingQuestions(layout, wishes) : [] };
}

/** Whether a row of a file is its header, for whoever looks for it. */
export function recogniserOf(order: ReadingOrder): RecognisesHeader {
  return (names) => {
    if (asRemembered(order, names) !== order) return 1;
    try {
      return knownLayout(order, names, false, wishesOf(order, names))?.certainty ?? 0;
    } catch (error) {
      // What is wrong with it is told when it turns out to be the header.
      if (error instanceof RefusedFileError) return 0;
      throw error;
    }
  };
}

function knownLayout(
  order: ReadingOrder,
  header: readonly string[],
  namesColumns: boolean,
  wishes: LayoutWishes,
): RecordLayout | null {
  const columns = new PresetColumns(header, namesColumns);
  if (order.preset !== null) return layoutByPreset(presetNamed(order.preset), columns, wishes, true);
  const preset = Object.keys(order.mapping).length > 0 ? null : presetBySignature(columns);
  return preset === null ? layoutByNames(header, wishes) : layoutByPreset(preset, columns, wishes, false);
}

/**
 * A question of where a column stands is answered as a mapping would be; the usual mapping of the source holds where
 * the file has its columns.
 */
function wishesOf(order: ReadingOrder, header: readonly string[]): LayoutWishes {
  const answered = Object.entries(order.answers).flatMap(([id, value]) =>
    id.startsWith(MAPPING_ANSWER) ? [[id.slice(MAPPING_ANSWER.length), value] as const] : [],
  );
  const names = new Set(header.map(plainName));
  const usual = Object.entries(order.usualMapping).filter(([, name]) => names.has(plainName(name)));
  return {
    mapping: { ...Object.fromEntries(usual), ...order.mapping, ...Object.fromEntries(answered) },
    constants: order.constants,
  };
}

function mappingQuestions({ kind, header, forms, doubtful }: RecordLayout, wishes: LayoutWishes): Question[] {
  return forms.flatMap(({ columns }) =>
    [...columns].flatMap(([canonical, source]) => {
      if (!('place' in source) || !doubtful.has(canonical) || Object.hasOwn(wishes.mapping, canonical)) return [];
      const column = header[source.place]!;
      return {
        id: `${MAPPING_ANSWER}${canonical}`,
        column,
        code: 'uncertain_mapping' as const,
        message: `Is "${column}" the ${canonical} of ${kind}?`,
        options: [column, ...header.filter((name) => name !== column)]
          .filter((name) => name !== '')
          .slice(0, 20)
          .map((name) => ({ value: name, label: `the column "${name}"` })),
      };
    }),
  );
}
