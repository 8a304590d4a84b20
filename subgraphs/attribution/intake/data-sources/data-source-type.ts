import { inputTypeOf, objectTypeOf, type GraphRecord } from '../../../../platform/graph/contract-types.ts';
import { nounTypes } from '../../../../platform/graph/noun-types.ts';
import { addedRecords, addedReport, inspectedRecords, inspectedReport } from '../../../../schema/contract/ingest.ts';
import { sourceChange } from '../../../../schema/contract/source-changes.ts';
import { sourceDetail, type dataSource } from '../../../../schema/contract/source-records.ts';
import { sources } from '../../../../schema/contract/data-sources.ts';

/** GraphQL's types of sources, which several resolvers share. */
export const ofSources = nounTypes(sources);

/** A source as a type of the graph, for fields that lead to one. */
export const DataSourceType = ofSources.Record;
/** What a resolver gives for a source. */
export type DataSourceType = GraphRecord<typeof dataSource>;

// What no row of REST has, or has otherwise.
export const DataSourceDetailType = objectTypeOf(sourceDetail);
export const SourceChangeType = objectTypeOf(sourceChange, 'That of the result.');
export const AddRecordsInput = inputTypeOf('AddRecordsInput', addedRecords);
export const InspectRecordsInput = inputTypeOf('InspectRecordsInput', inspectedRecords);
export const InspectRecordsPayload = objectTypeOf(inspectedReport, 'Trust envelope of the answer.');
export const AddRecordsPayload = objectTypeOf(addedReport, 'Trust envelope of the answer.');
