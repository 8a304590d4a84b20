import { z } from 'zod';

/** A moment that a caller names, RFC 3339; in the years 1 to 9999 even in UTC: an offset may lead out of them. */
export const momentInRest = z.iso.datetime({ offset: true }).refine((text) => {
  const year = new Date(text).getUTCFullYear();
  return !(year < 1 || year > 9999);
}, 'must lie in the years 1 to 9999, UTC');
