import { registerEnumType } from 'type-graphql';
import { enumOf } from '../../platform/graph/enum-of.ts';
import { ENVIRONMENTS } from '../../schema/value-lists.ts';

/** The environment of an object as the graph shows it; the features share the one type. */
export const EnvironmentEnum = enumOf(ENVIRONMENTS);
registerEnumType(EnvironmentEnum, { name: 'Environment', description: 'LIVE rests on data of the shop, SANDBOX on synthetic data.' });
