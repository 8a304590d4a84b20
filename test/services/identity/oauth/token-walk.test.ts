import * as fc from 'fast-check';
import { CALLBACK, CONTEXT, openAuthority, type Authority, type RegisteredClient } from './authority.ts';

let authority: Authority;
let client: RegisteredClient;
let ownerKey: string;

beforeAll(async () => {
  authority = await openAuthority();
  [client, { key: ownerKey }] = [await authority.registerClient(), await authority.issueKey('svc_live_sk')];
});
afterAll(() => authority?.close());

/** A token as the model knows it; a family is whatever descends from one authorisation. */
interface Token {
  readonly text: string;
  readonly use: 'access' | 'refresh';
  readonly family: Family;
  state: 'live' | 'used' | 'revoked';
}
interface Family {
  readonly tokens: Token[];
}
interface Code {
  readonly code: string;
  readonly codeVerifier: string;
  family: Family | null;
}

/** The rules in a dozen lines: what the service must agree with, whatever happens in whatever order. */
class Model {
  readonly tokens: Token[] = [];
  readonly codes: Code[] = [];

  grant(
    pair: { readonly accessToken: string; readonly refreshToken: string },
    family: Family = { tokens: [] },
  ): Family {
    for (const [use, text] of [
      ['access', pair.accessToken],
      ['refresh', pair.refreshToken],
    ] as const) {
      const token: Token = { text, use, family, state: 'live' };
      family.tokens.push(token);
      this.tokens.push(token);
    }
    return family;
  }

  end(tokens: readonly Token[]): void {
    for (const token of tokens) if (token.state === 'live') token.state = 'revoked';
  }
}

type Step = { readonly does: 'issue' | 'authorise' | 'redeem' | 'refresh' | 'revoke'; readonly pick: number };

const pick = <T>(from: readonly T[], { pick: at }: Step): T | undefined => from[at % Math.max(1, from.length)];
const succeeds = async <T>(answer: Promise<T>): Promise<T | null> => answer.catch(() => null);

async function take(step: Step, model: Model): Promise<void> {
  const { tokens } = authority.oauth;
  const identified = { clientId: client.clientId, clientSecret: client.clientSecret };
  switch (step.does) {
    case 'issue':
      model.grant(await tokens.exchange({ grantType: 'client_credentials', ...identified }, CONTEXT));
      return;
    case 'authorise':
      model.codes.push({ ...(await authority.authorise(client, ownerKey)), family: null });
      return;
    case 'redeem': {
      const code = pick(model.codes, step);
      if (code === undefined) return;
      const pair = await succeeds(
        tokens.exchange(
          {
            grantType: 'authorization_code',
            ...identified,
            redirectUri: CALLBACK,
            code: code.code,
            codeVerifier: code.codeVerifier,
          },
          CONTEXT,
        ),
      );
      expect(pair !== null).toBe(code.family === null);
      if (code.family !== null) model.end(code.family.tokens);
      else code.family = model.grant(pair!);
      return;
    }
    case 'refresh': {
      const token = pick(model.tokens, step);
      if (token === undefined) return;
      const pair = await succeeds(
        tokens.exchange({ grantType: 'refresh_token', clientId: client.clientId, refreshToken: token.text }, CONTEXT),
      );
      expect(pair !== null).toBe(token.use === 'refresh' && token.state === 'live');
      if (token.state === 'used') model.end(token.family.tokens);
      if (pair === null) return;
      token.state = 'used';
      model.grant(pair, token.family);
      return;
    }
    case 'revoke': {
      const token = pick(model.tokens, step);
      if (token === undefined) return;
      await tokens.revoke(token.text, CONTEXT);
      model.end(token.use === 'refresh' ? token.family.tokens : [token]);
    }
  }
}

test('whatever is issued, redeemed, refreshed, reused and revoked, exactly the tokens of the model work', async () => {
  const does = fc.constantFrom<Step['does']>(
    'issue',
    'authorise',
    'redeem',
    'redeem',
    'refresh',
    'refresh',
    'refresh',
    'revoke',
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ does, pick: fc.nat(40) }), { minLength: 4, maxLength: 24 }),
      async (steps) => {
        const model = new Model();
        for (const step of steps) await take(step, model);
        for (const { text, use, state } of model.tokens)
          expect({ use, isLive: await authority.isLive(text) }).toEqual({ use, isLive: state === 'live' });
      },
    ),
    { numRuns: 60 },
  );
}, 120_000);
