/** A range that a figure is drawn from, uniformly. */
export type Range = readonly [low: number, high: number];

/** What kinds of channels there are: ranges for ChannelSpec, whose fields are described there. */
export interface Archetype {
  /** per user in 90 days */
  readonly touches: Range;
  readonly interestShare: Range;
  readonly lagDays: Range;
  readonly targeting: Range;
  readonly reach: Range;
  readonly customersOnly: boolean;
  readonly perVisit: Range;
  /** effect of a touch relative to those of the other channels; all are scaled to the world's incremental share */
  readonly potency: Range;
  readonly halfLifeDays: Range;
  readonly closing: Range;
}

const NONE: Range = [0, 0];
const awareness: Archetype = {
  touches: [0.8, 2],
  interestShare: [0, 0.08],
  lagDays: NONE,
  targeting: [0, 0.5],
  reach: [0.4, 0.9],
  customersOnly: false,
  perVisit: NONE,
  potency: [0.4, 1.5],
  halfLifeDays: [3, 8],
  closing: NONE,
};
const search: Archetype = {
  touches: [0.2, 0.6],
  interestShare: [0.45, 0.9],
  lagDays: [0, 1.5],
  targeting: [0, 0.6],
  reach: [0.5, 1],
  customersOnly: false,
  perVisit: NONE,
  potency: [0.8, 4],
  halfLifeDays: [1, 4],
  closing: [0.03, 0.15],
};

/** Paid ones: the first eight are in most worlds. */
export const PAID_ARCHETYPES: Readonly<Record<string, Archetype>> = {
  paid_search: search,
  retargeting: {
    ...awareness,
    touches: [0.2, 0.6],
    interestShare: [0.1, 0.4],
    perVisit: [0.4, 1.2],
    potency: [0.2, 1.6],
    halfLifeDays: [1, 5],
  },
  social: { ...awareness, interestShare: [0, 0.15], targeting: [0, 0.8], potency: [0.3, 1.5], halfLifeDays: [2, 6] },
  brand_search: {
    ...search,
    touches: [0.1, 0.3],
    interestShare: [0.7, 0.95],
    lagDays: [0.5, 3],
    potency: [0, 1.2],
    halfLifeDays: [0.5, 3],
    closing: [0.3, 0.6],
  },
  display: { ...awareness, touches: [1, 2.5], potency: [0.2, 0.9], halfLifeDays: [2, 6] },
  email: {
    ...awareness,
    touches: [0.4, 1.2],
    interestShare: [0, 0.1],
    targeting: [0.3, 1],
    reach: [0.6, 0.95],
    customersOnly: true,
    potency: [0.3, 1.5],
    halfLifeDays: [1, 3],
    closing: [0, 0.1],
  },
  video: { ...awareness, touches: [0.6, 1.5], interestShare: [0, 0.05], potency: [0.6, 2.2], halfLifeDays: [4, 10] },
  affiliate: {
    ...search,
    touches: [0.08, 0.25],
    interestShare: [0.6, 0.95],
    lagDays: [1, 5],
    potency: [0.1, 1],
    halfLifeDays: [0.5, 2],
    closing: [0.05, 0.2],
  },
  shopping: { ...search, touches: [0.15, 0.5], interestShare: [0.5, 0.85] },
  influencer: { ...awareness, touches: [0.2, 0.8], reach: [0.1, 0.4], targeting: [0, 1], potency: [0.5, 3] },
  audio: { ...awareness, touches: [0.4, 1], reach: [0.2, 0.6], halfLifeDays: [5, 12] },
  sms: {
    ...awareness,
    touches: [0.2, 0.5],
    targeting: [0.5, 1],
    reach: [0.3, 0.7],
    customersOnly: true,
    potency: [0.3, 2],
    halfLifeDays: [0.5, 2],
  },
};

/** The placebos: no effect on orders, but people on their way to an order come through them. */
export const UNPAID_ARCHETYPES: Readonly<Record<string, Archetype>> = {
  direct: {
    ...search,
    touches: [0.3, 0.7],
    interestShare: [0.15, 0.5],
    lagDays: [0, 3],
    targeting: [0.2, 1],
    reach: [0.9, 1],
    potency: NONE,
    closing: [0.3, 0.6],
  },
  organic_search: {
    ...search,
    lagDays: [0, 1],
    touches: [0.4, 0.9],
    interestShare: [0.2, 0.6],
    targeting: [0, 0.6],
    reach: [0.9, 1],
    potency: NONE,
    closing: [0.08, 0.25],
  },
};
