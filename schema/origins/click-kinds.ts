/**
 * Kinds of click ids that are known, as the parameters of an address that they come in: in this order where a touch has
 * several.
 */
export const CLICK_KINDS = [
  'gclid',
  'gbraid',
  'wbraid',
  'dclid',
  'msclkid',
  'yclid',
  'ttclid',
  'twclid',
  'li_fat_id',
  'epik',
  'sccid',
  'rdt_cid',
  'igshid',
  'fbclid',
] as const;
export type ClickKind = (typeof CLICK_KINDS)[number];
