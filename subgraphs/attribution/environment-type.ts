import { enumTypeOf } from '../../platform/graph/contract-types.ts';
import { environment } from '../../schema/contract/terms.ts';

/** The environment of an object as the graph shows it; the features share the one type. */
export const EnvironmentEnum = enumTypeOf(environment);
