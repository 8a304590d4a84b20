import { z } from 'zod';

const MOST_COLUMNS = 64;
const LONGEST_NAME = 512;

/** Which column of a file stands for which of ours: canonical name → the file's own. */
export const columnMapping = z
  .record(z.string().max(LONGEST_NAME), z.string().min(1).max(LONGEST_NAME))
  .refine((mapping) => Object.keys(mapping).length <= MOST_COLUMNS, `must not name more than ${MOST_COLUMNS} columns`);
