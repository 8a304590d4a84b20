/**
 * A page that is asked for by its number, or by how many rows to skip, ends within so many rows of its list; filters
 * and cursors find what lies beyond.
 */
export const MAX_REACH = 100_000;
