import { EVENT_TYPES } from '../../schema/event-catalogue.ts';
import { newWebhookSecret } from '../../services/webhooks/signature.ts';
import { printable } from '../../report/terminal-text.ts';
import { BadInputError } from './bad-input-error.ts';
import { followEvents, type HeardEvent } from './listen/follow-events.ts';
import { forwardEvent, type ForwardOutcome, type Receiver } from './listen/forward-event.ts';

export interface ListenOptions {
  readonly url: string;
  readonly key?: string;
  /** Separated by commas. */
  readonly events?: string;
  readonly after?: string;
  readonly forwardTo?: string;
  readonly json?: true;
}

/** `liftgraph listen`: prints events as they happen, or forwards them to a program under development, until Ctrl-C. */
export async function runListen({
  url,
  key = process.env['LIFTGRAPH_KEY'],
  events,
  after,
  forwardTo,
  json,
}: ListenOptions): Promise<void> {
  if (key === undefined || key === '')
    throw new BadInputError(
      'There is no key to listen with. Give one with --key, or in the environment as LIFTGRAPH_KEY.',
    );
  const baseUrl = serviceAddress(url);
  const receiver: Receiver | null =
    forwardTo === undefined ? null : { url: httpAddress(forwardTo, '--forward-to').href, secret: newWebhookSecret() };
  const stop = stopSignal();
  if (receiver !== null) say(`Messages are signed with  ${receiver.secret}  for as long as this runs.`);
  let position = after;
  try {
    const heard = followEvents({
      baseUrl,
      key,
      types: events === undefined ? null : eventTypes(events),
      after: after ?? null,
      signal: stop,
      onOpen: (from) => {
        position ??= from;
        say(`Listening to ${baseUrl}. Ctrl-C ends it.`);
      },
      onLost: (reason, waitMs) => say(`${reason}; trying again in ${(waitMs / 1000).toFixed(1)} s`),
    });
    for await (const event of heard) {
      const outcome = receiver === null ? null : await forwardEvent(receiver, event, stop);
      process.stdout.write(`${json === true ? event.body : lineOf(event, outcome)}\n`);
      if (json === true && outcome !== null) say(outcomeOf(outcome));
      position = event.position;
    }
  } catch (error) {
    // A message that was on its way when the user left is not dealt with.
    if (!stop.aborted) throw error;
  }
  if (position !== undefined) say(`Stopped. To go on where this ended: --after ${position}`);
}

function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  return stop.signal;
}

/** @throws BadInputError */
function eventTypes(list: string): readonly string[] {
  const names = list.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !(EVENT_TYPES as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new BadInputError(`--events: ${JSON.stringify(unknown)} is not one of ${EVENT_TYPES.join(', ')}.`);
  return [...new Set(names)];
}

/** With or without `/v1`. @throws BadInputError */
function serviceAddress(url: string): string {
  const { origin, pathname } = httpAddress(url, '--url');
  const path = pathname.replace(/\/+$/, '');
  return `${origin}${path.endsWith('/v1') ? path : `${path}/v1`}`;
}

/** @throws BadInputError */
function httpAddress(text: string, option: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new BadInputError(
      `${option} ${text}: this is not an http or https address. Give one such as http://127.0.0.1:4000.`,
    );
  return url;
}

function lineOf({ timestamp, type, id, data }: HeardEvent, outcome: ForwardOutcome | null): string {
  const subject = Object.entries(data).find(
    ([name, value]) => typeof value === 'string' && (name === 'id' || name.endsWith('_id')),
  )?.[1];
  return printable(
    [
      timestamp,
      type.padEnd(24),
      id,
      ...(subject === undefined ? [] : [String(subject)]),
      ...(outcome === null ? [] : [outcomeOf(outcome)]),
    ].join('  '),
  );
}

function outcomeOf(outcome: ForwardOutcome): string {
  if ('failure' in outcome) return `-> not received: ${outcome.failure}; it is not sent again`;
  const { status, elapsedMs } = outcome;
  return status >= 200 && status < 300
    ? `-> ${status} in ${elapsedMs} ms`
    : `-> ${status} in ${elapsedMs} ms: not received, since only 2xx counts; it is not sent again`;
}

/** What is said to the user is not part of the output. */
function say(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}
