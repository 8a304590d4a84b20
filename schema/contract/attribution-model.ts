import { z } from 'zod';
import { MODELS } from '../value-lists.ts';
import { graphTypes } from './terms.ts';

export const attributionModel = z.enum(MODELS).register(graphTypes, {
  name: 'AttributionModel',
  description: 'CAUSAL combines the five others.',
});
