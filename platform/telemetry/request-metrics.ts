import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** What a request asked for, in words that do not depend on who asks: never an address as it came. */
export interface RequestTarget {
  readonly operation: string;
  /** Path with `{name}` for what varies. */
  readonly route: string;
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const MAX_LISTENERS = 20;
/** Whatever nobody names: unknown addresses, documentation, what overload sends away. */
const OTHER: RequestTarget = { operation: 'other', route: '' };

/** Counts requests and how long their answers take, at the outermost place of a server. */
export class RequestMetrics {
  readonly #requests: Counter<'operation' | 'route' | 'method' | 'status'>;
  readonly #durations: Histogram<'operation'>;
  readonly #inFlight: Gauge;
  readonly #pages: ReadonlyMap<string, RequestTarget>;
  readonly #targets = new WeakMap<IncomingMessage, RequestTarget>();

  /**
   * @param pages paths that stand for themselves, such as `/healthz`, or for all below them, such as `/records/`; the
   * operation has the same name
   */
  constructor(registry: Registry, pages: readonly string[]) {
    const registers = [registry];
    this.#pages = new Map(pages.map((path) => [path, { operation: path.replaceAll('/', ''), route: path }]));
    this.#requests = new Counter({
      name: 'liftgraph_http_requests_total',
      help:
        'Requests that were answered, by operation (operationId of the OpenAPI document), route, method and ' +
        'status; event streams when they end.',
      labelNames: ['operation', 'route', 'method', 'status'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'liftgraph_http_request_duration_seconds',
      help:
        'From the headers of a request to the end of its answer; without event streams, which last for as long ' +
        'as their clients like.',
      labelNames: ['operation'],
      buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    });
    this.#inFlight = new Gauge({
      name: 'liftgraph_http_requests_in_flight',
      help: 'Requests whose answer has not ended yet, open event streams among them.',
      registers,
    });
  }

  /** What a request turned out to be for. */
  tell(request: IncomingMessage, target: RequestTarget): void {
    this.#targets.set(request, target);
  }

  /** The same listener, measured. */
  measured(inside: RequestListener): RequestListener {
    return (request, response) => {
      const startedMs = performance.now();
      this.#inFlight.inc();
      // An event stream has ten of them, each for a reason of its own, where Node.js would suspect a leak.
      response.setMaxListeners(MAX_LISTENERS).once('close', () => this.#answered(request, response, startedMs));
      inside(request, response);
    };
  }

  #answered(request: IncomingMessage, response: ServerResponse, startedMs: number): void {
    this.#inFlight.dec();
    const { operation, route } = this.#targets.get(request) ?? this.#pageOf(request) ?? OTHER;
    const method = METHODS.has(request.method ?? '') ? request.method! : 'other';
    // Whoever left before there was an answer got none: 499, as nginx has it.
    this.#requests.inc({ operation, route, method, status: response.headersSent ? response.statusCode : 499 });
    if (!isEventStream(response)) this.#durations.observe({ operation }, (performance.now() - startedMs) / 1000);
  }

  #pageOf({ url = '' }: IncomingMessage): RequestTarget | undefined {
    const [path = ''] = url.split('?', 1);
    return this.#pages.get(path) ?? this.#pages.get(path.slice(0, path.indexOf('/', 1) + 1));
  }
}

function isEventStream(response: ServerResponse): boolean {
  const type = response.getHeader('content-type');
  return typeof type === 'string' && type.startsWith('text/event-stream');
}
