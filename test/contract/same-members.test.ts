import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSchema } from 'graphql';
import { loadNamedDocuments } from '../../gateway/named-documents.ts';
import { CONTRACT } from '../../rest-adapter/contract.ts';
import { differences, type Doors, type OpenApi } from './door-differences.ts';

/* The doors have the same members, but for those that are listed here with the reason. */

const LEADS_ON = 'the graph reads on where REST has the id';
const VARIANT = 'second name of the contract for a member; the graph has the first';
const OPEN_LIST = 'REST leaves the list open, so that it can grow without a version';
const SECTIONS = 'the graph asks for members by name';
const RECEIPT = 'REST lists receipts at a path of its own';
const FILE = 'of a download, which GraphQL cannot carry';

/** Differences that are meant, as `differences` words them, and why. */
const MEANT: Readonly<Record<string, string>> = {
  'AddWorkspaceAgentPayload.isNew: only in the graph': 'REST says it by the status, 201 or 200',
  'Agent.billingSummary: only in the graph': 'REST has it at a path of its own',
  'Agent.commissions: only in the graph': 'GET /commissions in REST',
  'Agent.referral_count: only in REST': VARIANT,
  'Agent.tier: an enum in the graph alone': OPEN_LIST,
  'Agent.total_calls: only in REST': VARIANT,
  'Agent.total_delta_r: only in REST': VARIANT,
  'AgentUsage.total_platform_fees: only in REST': VARIANT,
  'Attribution.agent: only in the graph': LEADS_ON,
  'Attribution.comparison: a list in the graph alone': 'REST shows a map from rules, by which programs look up',
  'Attribution.dataSource: only in the graph': LEADS_ON,
  'Attribution.modelBreakdown: a list in the graph alone': 'REST shows a map from models, by which programs look up',
  'Attribution.reportUrl: only in the graph': 'REST has the report beside the analysis, at a path of its own',
  'Attribution.valueProof: only in the graph': RECEIPT,
  'DataSourceSync.status: an enum in the graph alone': OPEN_LIST,
  'DataSourceSync.status_url: only in REST': 'a link to a path of REST',
  'NextTier.name: an enum in the graph alone': OPEN_LIST,
  'RejectedRow.uploadId: only in the graph': 'in REST the report of an upload says it once, for all its rows',
  'RevokeKeyPayload.status: other values than in REST': 'of all states of a key it is always the one',
  'exportAttribution(format): only in REST': FILE,
  'exportAttribution(level): only in REST': FILE,
  'reportAttribution(format): only in REST': FILE,
  'getAttribution(include): only in REST': SECTIONS,
  'getUsage(agentId): only in the graph': 'REST has a path of its own for it',
  'listAttributions(include): only in REST': SECTIONS,
  'listCommissions(agentId): only in the graph': 'REST has a path of its own for it',
  'listReferrals(agentId): only in the graph': 'REST has a path of its own for it',
  'runAttribution(include): only in REST': SECTIONS,
  'runAttribution(stream): only in REST': 'a subscription in the graph',
  'streamAttribution(last_event_id): only in REST': '`after` in the graph, which begins at 0 as well',
};

const SCHEMA = new URL('../../schema/', import.meta.url);
const text = (file: string): string => readFileSync(new URL(file, SCHEMA), 'utf8');
const SUPERGRAPH = text('supergraph.graphql');
const OPEN_API = text('openapi.json');

function doors({ supergraph = SUPERGRAPH, openApi = OPEN_API }: { supergraph?: string; openApi?: string } = {}): Doors {
  const graph = buildSchema(supergraph, { assumeValidSDL: true });
  return {
    graph,
    documents: DOCUMENTS,
    openApi: JSON.parse(openApi) as OpenApi,
    renamed: {
      'DataSource.id': ['data_source_id'],
      'BillingSubscription.id': ['subscription_id'],
      'Invoice.id': ['invoice_id'],
      'DataSource.error': ['error', 'last_error'],
      'Agent.id': ['agent_id'],
      'Workspace.id': ['workspace_id'],
      'listWebhooks.includeInactive': ['active'],
    },
    flat: ['DataSource.detail'],
  };
}

const DOCUMENTS = loadNamedDocuments(
  fileURLToPath(new URL('operations/', SCHEMA)),
  buildSchema(SUPERGRAPH, { assumeValidSDL: true }),
);
/** Every operation of REST that asks the graph. */
const PAIRS = CONTRACT.filter(({ document }) => document !== null).map(({ id, document }) => ({
  operationId: id,
  document: document!,
}));

test('members, parameters and kinds of values are the same through both doors, but for what is meant', () => {
  expect(differences(doors(), PAIRS)).toEqual(Object.keys(MEANT).toSorted());
  expect(PAIRS.length).toBeGreaterThan(40);
});

describe('is found out:', () => {
  const foundIn = (changed: { supergraph?: string; openApi?: string }): string[] =>
    differences(doors(changed), PAIRS).filter((difference) => !(difference in MEANT));
  const planted = (text: string, from: string | RegExp, to: string): string => {
    const changed = text.replace(from, to);
    expect(changed).not.toBe(text);
    return changed;
  };

  test.each([
    ['a member that the graph lost', /^  currentSync: /m, '  runningSync: ', 'DataSource.current_sync: only in REST'],
    ['a member of a part', /^  bytes: .*$/m, '  octets: Float!', 'CurrentSync.bytes: only in REST'],
    ['an argument', /^  brandId: ID$/m, '  brand: ID', 'connectDataSource(brand_id): only in REST'],
    ['money as a number of 32 bits', /floorCents: Cents!/, 'floorCents: Int!', 'PerAnalysisFee.floorCents: Int'],
    ['an address as a text', /^  callbackUrl: URL/m, '  callbackUrl: String', 'Agent.callbackUrl: String, in REST uri'],
    [
      'an enum as a text',
      'code: AttributionFailureCode!',
      'code: String!',
      'AttributionFailure.code: an enum in REST alone',
    ],
    ['a value of an enum', /^  BAD_SIGNATURE .*$/m, '', 'ResultVerification.reason: other values than in REST'],
  ])('%s', (_name, from, to, difference) => {
    expect(foundIn({ supergraph: planted(SUPERGRAPH, from, to) })).toContain(difference);
  });

  test('a member that REST lost', () => {
    const openApi = planted(OPEN_API, /"freshness_seconds": \{/, '"staleness_seconds": {');
    expect(foundIn({ openApi })).toEqual([
      'DataSource.staleness_seconds: only in REST',
      'DataSourceDetail.freshnessSeconds: only in the graph',
    ]);
  });
});
