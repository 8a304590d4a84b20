import { ProblemError } from '../../../../../schema/problems.ts';
import { checkCredentials } from '../../../../../subgraphs/attribution/intake/connectors/check-credentials.ts';
import {
  SourceRefusedError,
  type FetchingConnector,
} from '../../../../../subgraphs/attribution/intake/connectors/connector.ts';
import { SourceUnreachableError } from '../../../../../subgraphs/attribution/intake/connectors/source-unreachable.ts';
import { tinyShopConnector } from './tiny-shop.ts';

const CREDENTIALS = { token: 'tok/en', nested: { key: 'private', short: 'us' }, count: 3 };

const problemOf = async (check: FetchingConnector['check'], timeoutMs = 5_000): Promise<ProblemError> => {
  const refused = await checkCredentials({ ...tinyShopConnector, check }, CREDENTIALS, timeoutMs).catch(
    (error: unknown) => error,
  );
  if (!(refused instanceof ProblemError)) throw new Error('the check went well');
  return refused;
};

describe('credentials are checked', () => {
  test('and good ones pass', async () => {
    await expect(
      checkCredentials({ ...tinyShopConnector, check: () => Promise.resolve() }, CREDENTIALS, 5_000),
    ).resolves.toBeUndefined();
  });

  test('whatever the connector calls a refusal, the request names it credentials_rejected', async () => {
    const { type, problem, message } = await problemOf(() =>
      Promise.reject(new SourceRefusedError('lacks the scope read_orders.', 'scope_missing')),
    );
    expect([type, problem, message]).toMatchObject([
      'validation_error',
      { status: 422, code: 'credentials_rejected', param: '/credentials' },
      'credentials: lacks the scope read_orders.',
    ]);
  });

  test('by a connector that does not heed its signal for no longer than by one that does', async () => {
    const { type, problem } = await problemOf(() => new Promise(() => undefined), 20);
    expect([type, problem]).toMatchObject(['service_unavailable', { status: 503, code: 'source_unreachable' }]);
  });

  test('and what failed is kept for the log without them', async () => {
    const { cause } = await problemOf(() =>
      Promise.reject(
        new TypeError('GET /?key=private&token=tok%2Fen', { cause: new Error('tok/en: ECONNREFUSED in us') }),
      ),
    );
    expect(cause).toBeInstanceOf(SourceUnreachableError);
    expect((cause as Error).message).toBe('Tiny shop: GET /?key=…&token=… (…: ECONNREFUSED in us)');
    expect((cause as Error).cause).toBeUndefined();
    expect(new SourceUnreachableError('Shop', 'a word', null).message).toBe('Shop: a word');
  });
});
