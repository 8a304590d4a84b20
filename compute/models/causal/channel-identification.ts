import type { Failure } from '../../outcome.ts';
import { IDENTIFICATION_REASONS, IDENTIFICATION_STATUSES } from '../../../schema/value-lists.ts';
import { DAY_S } from '../../run-options.ts';
import type { PravResult } from '../prav/prav-result.ts';
import type { ChannelFlanks } from '../prav/visit-flanks.ts';
import { sumOf } from '../credits.ts';

export type IdentificationCode = (typeof IDENTIFICATION_REASONS)[number];

/** Whether the rows pin a channel's effect down to a point, to a set, or not at all, and why (Manski 2003). */
export interface ChannelIdentification {
  readonly status: (typeof IDENTIFICATION_STATUSES)[number];
  readonly reasons: readonly { readonly code: IdentificationCode; readonly message: string }[];
}

/** What the tests look at. Arrays follow `channels`. */
export interface IdentificationInput {
  readonly channels: readonly string[];
  readonly isBaseline: Uint8Array;
  /** major units, as stored */
  readonly spend: Float64Array;
  /** channels that any touch names, in the range or around it */
  readonly touched: ReadonlySet<string>;
  readonly prav: PravResult | Failure;
  readonly conversions: number;
  /** of those, with no touch before them */
  readonly unseenConversions: number;
}

/** Fewer touches that could be followed to the end say nothing, however lucky they were. */
const FEWEST_EXPOSURES = 10;
/** Lead test: visits before a touch exceed those after it by this many jackknife errors, and by this factor. */
export const LEAD_ERRORS = 3;
export const LEAD_RATIO = 1.25;
/** Who clicks to get to a shop comes back unpaid about as often as a direct visitor, and orders no less often. */
const NAVIGATIONAL_VISITS = 0.9;
const NAVIGATIONAL_ORDERS = 1;
/** Orders without a touch beyond this part: their visits stand under other ids, or nowhere. */
const MOST_UNSEEN_ORDERS = 0.1;
/** Effects are followed for the whole horizon in data of this many horizons, and mostly end within it. */
const FEWEST_HORIZONS = 2;
const MOST_BEYOND_HORIZON = 1.25;

type Reason = ChannelIdentification['reasons'][number];

const POINT: ChannelIdentification = { status: 'point', reasons: [] };
const percent = (part: number): string => `${Math.round(part * 100)} %`;
const shown = (perTouch: number): string => perTouch.toPrecision(2);

/** What holds for all channels alike. */
function reasonsOfTheShop({ prav, conversions, unseenConversions }: IdentificationInput): Reason[] {
  if (!prav.ok)
    return [
      {
        code: 'no_placebo',
        message:
          'No unpaid visits tell people who were persuaded from people who would have bought anyway. Record direct ' +
          'and organic visits with their times.',
      },
    ];
  const reasons: Reason[] = [];
  const horizonDays = Math.round(prav.horizonS / DAY_S);
  const dataDays = Math.round((prav.estimationEndS - prav.dataStartS) / DAY_S);
  if (dataDays < FEWEST_HORIZONS * horizonDays)
    reasons.push({
      code: 'horizon_exceeds_data',
      message:
        `Effects are followed for ${horizonDays} days, and the data covers ${dataDays}: most touches were not ` +
        `followed to the end. Upload ${FEWEST_HORIZONS * horizonDays} days or more.`,
    });
  else if ((prav.adStock?.beyond ?? 1) > MOST_BEYOND_HORIZON)
    reasons.push({
      code: 'horizon_exceeds_data',
      message:
        `Effects wear off slowly: ${percent(1 - 1 / prav.adStock!.beyond)} of them come later than the ` +
        `${horizonDays} days for which they are followed, and were extrapolated.`,
    });
  const unseen = conversions > 0 ? unseenConversions / conversions : 0;
  if (unseen > MOST_UNSEEN_ORDERS)
    reasons.push({
      code: 'ids_split',
      message:
        `${percent(unseen)} of the orders come from people without any visit on record: their visits stand under ` +
        'other ids, or were not recorded. Use one id per person across devices.',
    });
  return reasons;
}

/** Mean over the touches of all unpaid channels. */
function amongUnpaid(flanks: readonly ChannelFlanks[], isUnpaid: (c: number) => boolean): number {
  let [visits, touches] = [0, 0];
  flanks.forEach((each, c) => {
    if (!isUnpaid(c)) return;
    visits += each.after * each.touches;
    touches += each.touches;
  });
  return touches > 0 ? visits / touches : 0;
}

/** The lead test: who is chosen because they visited visits before the touch, not after it (Granger 1969). */
export const isShownToVisitors = ({ before, after, differenceError }: ChannelFlanks): boolean =>
  before - after > LEAD_ERRORS * differenceError && before > LEAD_RATIO * after;

/**
 * What the rows show of one channel. Who is chosen because they visited fails the lead test; what a touch brings
 * comes after it; and who has decided already behaves like a direct visitor.
 */
function reasonsOfTheChannel(
  prav: PravResult,
  unpaid: { readonly visits: number; readonly orders: number },
  c: number,
) {
  const reasons: Reason[] = [];
  const { before, after } = prav.flanks[c]!;
  if (isShownToVisitors(prav.flanks[c]!))
    reasons.push({
      code: 'reactive_targeting',
      message:
        `People visit ${after > 0 ? `${(before / after).toFixed(1)} times as often` : 'unpaid only'} before its ` +
        `touches ${after > 0 ? 'as after them' : 'and not after them'} (${shown(before)} against ${shown(after)} ` +
        'visits a touch): it is shown to those who already came. Hold some of them out to learn what it adds.',
    });
  if (after >= NAVIGATIONAL_VISITS * unpaid.visits && prav.conversionsAfter[c]! >= NAVIGATIONAL_ORDERS * unpaid.orders)
    reasons.push({
      code: 'navigational_click',
      message:
        'Those who click it come back by themselves about as often as direct visitors, and order no less often: many ' +
        'may use it only to get to the shop. Hold some of them out to learn who would have come anyway.',
    });
  if (prav.halo[c]! > 0)
    reasons.push({
      code: 'placebo_contains_effect',
      message:
        `Its touches bring unpaid visits themselves (${shown(prav.halo[c]!)} a touch). What people do by themselves ` +
        'is measured by such visits, so a part of the effect may have been taken off.',
    });
  return reasons;
}

/** Per channel of `channels`; null for unpaid ones, which are what effects are measured against. */
export function identifyChannels(input: IdentificationInput): readonly (ChannelIdentification | null)[] {
  const { channels, isBaseline, spend, touched, prav } = input;
  const ofTheShop = reasonsOfTheShop(input);
  const place = new Map(prav.ok ? prav.channels.map((channel, c) => [channel, c]) : []);
  const unpaidNames = new Set(channels.filter((_, c) => isBaseline[c] === 1));
  const isUnpaid = (c: number): boolean => prav.ok && unpaidNames.has(prav.channels[c]!);
  const unpaid = prav.ok
    ? {
        visits: amongUnpaid(prav.flanks, isUnpaid),
        orders: ordersPerExposure(prav, isUnpaid),
      }
    : { visits: 0, orders: 0 };
  return channels.map((channel, index) => {
    if (isBaseline[index] === 1) return null;
    const c = place.get(channel);
    const isSeen = prav.ok ? c !== undefined && (prav.touches[c]! > 0 || prav.exposures[c]! > 0) : touched.has(channel);
    if (!isSeen) return spend[index]! > 0 ? UNTRACKED : POINT;
    if (!prav.ok || c === undefined) return { status: 'partial', reasons: ofTheShop };
    const exposures = prav.exposures[c]!;
    if (exposures < FEWEST_EXPOSURES) return tooFew(exposures, prav.horizonS);
    const reasons = [...reasonsOfTheChannel(prav, unpaid, c), ...ofTheShop];
    return reasons.length === 0 ? POINT : { status: 'partial', reasons };
  });
}

function ordersPerExposure(prav: PravResult, isUnpaid: (c: number) => boolean): number {
  const of = (column: Float64Array): number => sumOf(column.map((each, c) => (isUnpaid(c) ? each : 0)));
  const exposures = of(prav.exposures);
  return exposures > 0 ? of(prav.conversionsAfter.map((orders, c) => orders * prav.exposures[c]!)) / exposures : 0;
}

const UNTRACKED: ChannelIdentification = {
  status: 'none',
  reasons: [
    {
      code: 'untracked_spend',
      message:
        'It costs money and leaves no touches, so the rows say nothing of what it brings. A geo experiment would: ' +
        'switch it off in some regions for a while.',
    },
  ],
};

function tooFew(exposures: number, horizonS: number): ChannelIdentification {
  return {
    status: 'none',
    reasons: [
      {
        code: 'too_few_exposures',
        message:
          `${exposures} of its touches could be followed for ${Math.round(horizonS / DAY_S)} days; ` +
          `${FEWEST_EXPOSURES} are the fewest that say anything. Choose a longer range.`,
      },
    ],
  };
}
