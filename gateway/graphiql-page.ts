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
  const find = (headers, wanted) => Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === wanted);
  const OPERATION = /(?:^|[\\s}])(query|mutation|subscription)\\b\\s*(\\w*)/g;
  const operationsOf = (query) => [...query.replace(/#[^\\n]*/g, '').matchAll(OPERATION)];
  const stream = (payload, headers) => ({
    subscribe: (observer) => {
      const address = new URL(endpoint, location.href).href.replace(/^http/, 'ws');
      const socket = new WebSocket(address, 'graphql-transport-ws');
      const send = (message) => socket.send(JSON.stringify(message));
      const fail = (errors) => observer.error?.({ errors });
      let over = false;
      const end = (action) => { if (!over) { over = true; action(); socket.close(1000); } };
      socket.onopen = () => {
        const authorization = find(headers, 'authorization')?.[1];
        send({ type: 'connection_init', payload: { authorization } });
      };
      socket.onclose = ({ reason, code }) => end(() => fail([{ message: 'The stream closed: ' + (reason || code) }]));
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(data);
        if (message.type === 'connection_ack') send({ id: '1', type: 'subscribe', payload });
        else if (message.type === 'ping') send({ type: 'pong' });
        else if (message.type === 'next') observer.next(message.payload);
        else if (message.type === 'error') end(() => fail(message.payload));
        else if (message.type === 'complete') end(() => observer.complete?.());
      };
      return { unsubscribe: () => end(() => undefined) };
    },
  });
  // The header waits for a key: until there is one, callers are anonymous.
  const isFilled = ([, value]) => !/^Bearer\\s*$/.test(value);
  const filled = (headers) => Object.fromEntries(Object.entries(headers ?? {}).filter(isFilled));
  // Browsers make UUIDs only where the address is https or this machine.
  const newNonce = () => crypto.randomUUID?.() ?? String(Date.now() + Math.random()).replace('.', '-');
  return async ({ query, operationName, variables }, options) => {
    const headers = filled(options?.headers);
    const operations = operationsOf(query);
    const chosen = operations.find((found) => found[2] === operationName);
    const kind = (chosen ?? operations[0])?.[1] ?? 'query';
    // Run at once after pasting, GraphiQL still names the operation that was there before.
    const payload = { query, variables, ...(chosen === undefined ? {} : { operationName }) };
    if (kind === 'subscription') return stream(payload, headers);
    const lacksNonce = kind === 'mutation' && find(headers, 'x-nonce') === undefined;
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json, application/json',
        ...(lacksNonce ? { 'X-Nonce': newNonce() } : {}),
        ...headers,
      },
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
