import { Caller, type Answer, type Json } from '../house.ts';

/** What an answer holds at a path, as text. */
export const at = (answer: { readonly body: Json }, ...path: readonly string[]): string =>
  String(path.reduce<Json | undefined>((value, member) => value?.[member], answer.body));

export const problem = ({ status, body }: Answer): { status: number; code: string; param: string } => {
  return { status, code: String(body['error']?.['code']), param: String(body['error']?.['param']) };
};

export const works = async (caller: Caller): Promise<boolean> => (await caller.get('/agents/me')).status === 200;

/** What calls with the token of a grant, and the refresh token. */
export interface Granted {
  readonly caller: Caller;
  readonly refreshToken: string;
}

/** An agent that exchanges its key for tokens. */
export class GrantedAgent {
  readonly #root: string;
  readonly #clientId: string;
  /** With the key that it was registered with. */
  readonly caller: Caller;

  private constructor(root: string, caller: Caller, clientId: string) {
    this.#root = root;
    this.caller = caller;
    this.#clientId = clientId;
  }

  static async register(root: string): Promise<GrantedAgent> {
    const caller = await Caller.register(root);
    return new GrantedAgent(root, caller, at(await caller.get('/agents/me'), 'agent_id'));
  }

  /** Whoever has the key or token that an answer shows. */
  withKey(answer: { readonly body: Json }, ...path: readonly string[]): Caller {
    return new Caller(this.#root, at(answer, ...path));
  }

  /** Asks for tokens with the key of the agent: client_credentials. */
  ask(scope?: string): Promise<Answer> {
    return this.#post('/oauth/token', { grant_type: 'client_credentials', client_secret: this.caller.key, scope });
  }

  /** Tokens with all scopes of the agent unless fewer are named. */
  async grant(scope?: string): Promise<Granted> {
    return this.#granted(await this.ask(scope));
  }

  async refresh(refreshToken: string): Promise<Granted> {
    const asked = { grant_type: 'refresh_token', refresh_token: refreshToken };
    return this.#granted(await this.#post('/oauth/token/refresh', asked));
  }

  revoke(token: string): Promise<Answer> {
    return new Caller(this.#root, null).post('/oauth/revoke', { token });
  }

  /** Changes the agent's record. */
  change(by: Caller, path: string, body: unknown): Promise<Answer> {
    return by.send('PATCH', path, JSON.stringify(body), { 'content-type': 'application/json' });
  }

  /** The key whose id an answer tells, as the list shows it. */
  async listed(answer: { readonly body: Json }, ...path: readonly string[]): Promise<Json> {
    const { body } = await this.caller.get('/keys');
    return (body['keys'] as unknown as readonly Json[]).find((key) => String(key['id']) === at(answer, ...path))!;
  }

  #granted(answer: Answer): Granted {
    return { caller: this.withKey(answer, 'access_token'), refreshToken: at(answer, 'refresh_token') };
  }

  #post(path: string, body: object): Promise<Answer> {
    return new Caller(this.#root, null).post(path, { client_id: this.#clientId, ...body });
  }
}
