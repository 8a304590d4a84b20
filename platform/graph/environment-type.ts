import { environment } from '../../schema/contract/terms.ts';
import { enumTypeOf } from './contract-types.ts';

/** The environment of an object as the graph shows it; the features share the one type. */
export const EnvironmentEnum = enumTypeOf(environment);
