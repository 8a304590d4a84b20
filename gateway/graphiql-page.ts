import { renderGraphiQL } from '@graphql-yoga/render-graphiql';

const DEFAULT_QUERY = `# Your key goes into the Headers tab below,
# behind "Bearer". Subscriptions use it too;
# it is gone when the page closes.
#
# Mutations get a fresh X-Nonce from this
# page, unless you set the header yourself.
#
# Ctrl-Space completes, Ctrl-Enter runs.

query Explore {
  __schema {
    queryType { fields { name description } }
    subscriptionType { fields { name } }
  }
}
`;

const FETCHER_SLOT = '"graphiql-fetcher"';

/**
 * Runs in the page. GraphiQL's own fetcher would not authenticate a WebSocket: the key goes into `connection_init`.
 * An Observable per subscription keeps the protocol (graphql-transport-ws) to its five messages.
 */
const FETCHER = `((endpoint) => {
  const authorizationOf = (headers) => Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'authorization')?.[1];
  const has = (headers, name) => Object.keys(headers ?? {}).some((key) => key.toLowerCase() === name);
  const operationsOf = (query) => [...query.replace(/#[^\\n]*/g, '').matchAll(/(?:^|[\\s}])(query|mutation|subscription)\\b\\s*(\\w*)/g)];
  const stream = (payload, headers) => ({
    subscribe: (observer) => {
      const socket = new WebSocket(new URL(endpoint, location.href).href.replace(/^http/, 'ws'), 'graphql-transport-ws');
      let over = false;
      const end = (action) => { if (!over) { over = true; action(); socket.close(1000); } };
      socket.onopen = () => socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: authorizationOf(headers) } }));
      socket.onclose = (event) => end(() => observer.error?.({ errors: [{ message: 'The stream closed: ' + (event.reason || event.code) }] }));
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(data);
        if (message.type === 'connection_ack') socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
        else if (message.type === 'ping') socket.send(JSON.stringify({ type: 'pong' }));
        else if (message.type === 'next') observer.next(message.payload);
        else if (message.type === 'error') end(() => observer.error?.({ errors: message.payload }));
        else if (message.type === 'complete') end(() => observer.complete?.());
      };
      return { unsubscribe: () => end(() => undefined) };
    },
  });
  // The header waits for a key: until there is one, callers are anonymous.
  const filled = (headers) => Object.fromEntries(Object.entries(headers ?? {}).filter(([, value]) => !/^Bearer\\s*$/.test(value)));
  return async ({ query, operationName, variables }, options) => {
    const headers = filled(options?.headers);
    const operations = operationsOf(query);
    const chosen = operations.find((found) => found[2] === operationName);
    const kind = (chosen ?? operations[0])?.[1] ?? 'query';
    // Run at once after pasting, GraphiQL still names the operation that was there before.
    const payload = { query, variables, ...(chosen === undefined ? {} : { operationName }) };
    if (kind === 'subscription') return stream(payload, headers);
    const nonce = kind === 'mutation' && !has(headers, 'x-nonce') ? { 'X-Nonce': crypto.randomUUID?.() ?? String(Date.now() + Math.random()).replace('.', '-') } : {};
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json, application/json', ...nonce, ...headers },
      body: JSON.stringify(payload),
    });
    return response.json();
  };
})(location.pathname)`;

let page: string | undefined;

/** The explorer as one self-contained page: nothing is loaded from elsewhere. About 9 MB, made once. */
export function graphiqlPage(): string {
  page ??= renderGraphiQL({
    title: 'Liftgraph',
    logo:
      '<svg viewBox="0 0 40 40" width="28" height="28" aria-hidden="true"><path d="M6 32 16 20l7 6L35 8" ' +
      'fill="none" stroke="#2f7d5b" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/></svg>',
    defaultQuery: DEFAULT_QUERY,
    headers: '{\n  "Authorization": "Bearer "\n}',
    // A key must not outlive the page in the browser's storage.
    shouldPersistHeaders: false,
    fetcher: 'graphiql-fetcher',
  } as unknown as Parameters<typeof renderGraphiQL>[0]).replace(FETCHER_SLOT, () => FETCHER);
  return page;
}
