import type { ReadingFinding, ReadingOrder } from '../reading-messages.ts';
import { ASKED_BELOW, findLayout, recogniserOf } from './find-layout.ts';
import { EarliestRows } from './earliest-rows.ts';
import { FileSurvey, type SurveyFinding } from './file-survey.ts';
import { inspectionOf } from './inspection.ts';
import type { RecordLayout } from './record-layout.ts';
import type { CellSource } from './row-cells.ts';
import { OrderLines } from './order-lines.ts';
import { orderColumnsOf } from './order-rows.ts';
import { NotPlainError, RecordIntake, type Handover, type IntakePlan } from './record-intake.ts';
import { PLAIN_STYLES } from './record-tables.ts';
import { refuseCurrencies, refuseQuestions } from './refuse-open-file.ts';
import { asRemembered } from './remembered-wishes.ts';
import { SourceFile, type OpenedFile } from './source-file.ts';
import type { TextEncoding } from './text-encoding.ts';

/**
 * Reads one file: every row is checked, and handed on as a block of its table or kept as a reject. It is first taken as
 * plainly written, which most files are. When a cell contradicts, all of the file is looked at, so that each column has
 * one reading, and it is read again with that.
 * @throws RefusedFileError when the file as a whole cannot be used, or leaves a question open; rows handed on before
 * stay
 */
export async function readRecords(asked: ReadingOrder, handover: Handover): Promise<ReadingFinding> {
  const file = new SourceFile(asked, (bytes) => handover.room(bytes), recogniserOf(asked));
  let encoding: TextEncoding | 'auto' = 'auto';
  let opened = await file.open();
  const order = asRemembered(asked, opened.reader.header);
  const { layout, questions } = await findLayout(order, opened.reader, () => file.open());
  if (isPlainlyWished(order, layout)) {
    try {
      const plan = {
        layout,
        styles: PLAIN_STYLES,
        currency: order.amountCurrency,
        isGuess: true,
        earliest: new EarliestRows(),
        orderRows: null,
        lines: null,
      };
      return await takeRows(plan, order, opened, handover);
    } catch (error) {
      if (!(error instanceof NotPlainError)) throw error;
      if (error.code === 'invalid_encoding') encoding = await file.encoding();
      opened = await file.open(encoding);
    }
  }
  const found = await surveyed(layout, order, opened, handover);
  const open = [...questions, ...found.questions];
  if (!order.isDryRun) refuseQuestions(open);
  const plan = planOf(layout, found, order);
  if (!order.isDryRun) refuseCurrencies(found.currencies, order.currency ?? plan.currency, order.rates);
  if (plan.lines !== null) {
    await takeRows(plan, order, await file.open(encoding), handover);
    plan.lines.isCollecting = false;
  }
  const finding = await takeRows(plan, order, await file.open(encoding), handover);
  return order.isDryRun ? { ...finding, inspection: inspectionOf(layout, found, open) } : finding;
}

/**
 * Nothing was said that makes plain cells mean something else, no more is asked than their rows, and each of these
 * counts whatever the others are.
 */
function isPlainlyWished(order: ReadingOrder, layout: RecordLayout): boolean {
  // A rate of 1,083 is not told from a thousand.
  if (layout.kind === 'fx' || layout.forms.some(({ oncePer }) => oncePer !== null)) return false;
  // Whether they are lines of orders, only all of them tell.
  if (orderColumnsOf(layout)?.hasLines === true) return false;
  const zone = order.timezone ?? layout.timeZone ?? 'UTC';
  return !order.isDryRun && zone === 'UTC' && layout.certainty >= ASKED_BELOW;
}

async function takeRows(
  plan: IntakePlan,
  order: ReadingOrder,
  { content, reader }: OpenedFile,
  handover: Handover,
): Promise<ReadingFinding> {
  const intake = new RecordIntake(plan, order, content, handover);
  await reader.read(usedBy(plan.layout), intake, namesOf(plan.layout));
  intake.handOnAll();
  return intake.finding();
}

async function surveyed(
  layout: RecordLayout,
  order: ReadingOrder,
  { content, reader }: OpenedFile,
  handover: Handover,
): Promise<SurveyFinding> {
  const survey = new FileSurvey(layout, order, reader.hasPlainNumbers, () => handover.progress(content.bytes));
  await reader.read(usedBy(layout), survey, namesOf(layout));
  return survey.finding();
}

function planOf(layout: RecordLayout, found: SurveyFinding, order: ReadingOrder): IntakePlan {
  const { styles, earliest, orderRows, currencies } = found;
  // Of several, what there are rates for is worth something in the one that there are none for.
  const unrated = currencies.filter(({ currency }) => !Object.hasOwn(order.rates, currency));
  const named = unrated.length === 1 && currencies.length > 1 ? unrated[0]!.currency : null;
  const currency = order.amountCurrency ?? named;
  return {
    layout,
    styles,
    currency: currency ?? found.currency,
    isGuess: false,
    earliest,
    orderRows,
    lines: orderRows === 'lines' ? new OrderLines() : null,
  };
}

const namesOf = ({ header, later }: RecordLayout): readonly string[] => [...header, ...later];

/** Places of the columns that are read. */
function usedBy({ forms, pairs, lookedAt }: RecordLayout): ReadonlySet<number> {
  const places = new Set(lookedAt);
  const sources = [
    ...forms.flatMap(({ columns, oncePer }) => [...columns.values(), ...(oncePer ?? [])]),
    ...pairs.flatMap(({ id, sameAs }) => [id, sameAs]),
  ];
  for (const source of sources)
    for (let each: CellSource | undefined = source; each !== undefined && 'place' in each; each = each.otherwise)
      places.add(each.place);
  return places;
}
