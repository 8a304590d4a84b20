import { problemsOf, stepsOf } from '../../rest-adapter/pipeline.ts';
import { openDoor } from './door.ts';

const names = (column: Parameters<typeof stepsOf>[0]) => stepsOf(column).map(({ name }) => name);

describe('order of the steps', () => {
  test('a write goes through all checks before its document is said', () => {
    expect(names('write')).toEqual([
      'assign-request-id',
      'respond',
      'count-refused',
      'report-problems',
      'negotiate-version',
      'authenticate',
      'assert-scope',
      'grant-sandbox-wishes',
      'consume-nonce',
      'negotiate-media',
      'read-body',
      'claim-idempotency-key',
      'validate-request',
      'execute-document',
    ]);
  });

  test.each([
    ['read', ['execute-document']],
    ['insight', ['await-insight']],
    ['job', ['run-job']],
    ['upload', ['ingest-upload']],
    ['stream', ['stream-progress']],
    ['feed', ['follow-feed']],
    ['publicRead', ['check-health']],
    ['publicWrite', ['execute-document']],
    ['unmatched', ['refuse-unmatched']],
  ] as const)('%s ends in its own handler', (column, last) => {
    expect(names(column).slice(-1)).toEqual(last);
  });

  test('a stream is counted once it is known to be sound, and before anything is done for it', () => {
    for (const column of ['job', 'stream', 'feed'] as const)
      expect(names(column).slice(-3)).toEqual(['validate-request', 'hold-stream', expect.anything()]);
  });

  test('the earlier failure wins: each request has all the faults behind the one that is answered', async () => {
    await using door = await openDoor();
    const faults: [type: string, headers: Record<string, string | null>][] = [
      [
        'unsupported_api_version',
        {
          'svc-api-version': '1999-01-01',
          authorization: null,
          'x-nonce': null,
          accept: 'image/png',
          'content-type': 'text/plain',
        },
      ],
      ['invalid_api_key', { authorization: null, 'x-nonce': null, accept: 'image/png', 'content-type': 'text/plain' }],
      [
        'insufficient_permissions',
        { authorization: 'Bearer none', 'x-nonce': null, accept: 'image/png', 'content-type': 'text/plain' },
      ],
      ['missing_nonce', { 'x-nonce': null, accept: 'image/png', 'content-type': 'text/plain' }],
      ['not_acceptable', { accept: 'image/png', 'content-type': 'text/plain' }],
      ['unsupported_media_type', { 'content-type': 'text/plain' }],
      ['invalid_request', { 'content-type': 'application/json' }],
    ];
    for (const [type, headers] of faults) {
      const response = await door.call('POST', '/v1/attribution?stream=maybe', { body: 'not json', headers });
      expect(await response.json()).toMatchObject({ error: { type } });
    }
    const invalid = await door.call('POST', '/v1/attribution?stream=maybe', { body: {} });
    expect(await invalid.json()).toMatchObject({ error: { type: 'validation_error' } });
    expect(door.client.calls).toEqual([]);
  });

  test('a refused caller keeps the nonce, a failed validation uses it up', async () => {
    await using door = await openDoor();
    const send = (authorization: string) =>
      door.call('POST', '/v1/attribution', { body: {}, headers: { authorization, 'x-nonce': 'nonce-0001' } });
    expect((await send('Bearer wrong')).status).toBe(401);
    expect((await send('Bearer all')).status).toBe(422);
    expect((await send('Bearer all')).status).toBe(409);
  });
});

test('what a kind may answer with follows from its steps', () => {
  expect(problemsOf('publicRead')).not.toContain('invalid_api_key');
  expect(problemsOf('read')).not.toContain('missing_nonce');
  expect(problemsOf('write')).toEqual(
    expect.arrayContaining([
      'missing_nonce',
      'duplicate_nonce',
      'payload_too_large',
      'unsupported_media_type',
      'validation_error',
      'internal_error',
    ]),
  );
});
