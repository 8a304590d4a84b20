import { z } from 'zod';
import { newUuid } from '../../platform/identifiers.ts';
import { buildOpenApi } from '../../rest-adapter/openapi.ts';
import { EVENT_CATALOGUE, EVENT_TYPES, type EventType } from '../../schema/event-catalogue.ts';
import { EndpointSecrets } from '../../services/webhooks/endpoint-secret.ts';
import { messageOf } from '../../services/webhooks/message.ts';
import { newWebhookSecret } from '../../services/webhooks/signature.ts';
import { KeyVault } from '../../services/trust/key-vault.ts';

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0];
type Reference = { readonly $ref: string };

const document = JSON.parse(JSON.stringify(buildOpenApi('https://api.example/v1'))) as {
  readonly webhooks: Readonly<
    Record<
      string,
      {
        readonly post: {
          readonly parameters: readonly Reference[];
          readonly requestBody: {
            readonly content: {
              readonly 'application/json': { readonly schema: Reference; readonly example: unknown };
            };
          };
          readonly responses: Readonly<Record<string, Reference>>;
        };
      }
    >
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly parameters: Readonly<
      Record<string, { readonly name: string; readonly in: string; readonly schema: { readonly type: string } }>
    >;
    readonly responses: Readonly<Record<string, { readonly description: string }>>;
  };
};

const named = <Thing>(things: Readonly<Record<string, Thing>>, { $ref }: Reference): Thing =>
  things[$ref.slice($ref.lastIndexOf('/') + 1)]!;

const secrets = new EndpointSecrets(new KeyVault('s'.repeat(32)));

/** What a sender would send, of an event or of a test. */
function sent(eventType: EventType, isTest: boolean) {
  const endpointId = newUuid();
  const [now, secret] = [new Date(), newWebhookSecret()];
  return messageOf(
    {
      id: newUuid(),
      accountId: newUuid(),
      environment: 'live',
      endpointId,
      eventId: newUuid(),
      eventType,
      isTest,
      attempt: 6,
      sentAt: now,
      kind: 'webhook',
      url: 'https://shop.example/hook',
      metadata: { shop: 'spring' },
      apiVersion: '2026-02-01',
      sealedSecret: secrets.seal(secret, endpointId),
      sealedReplacedSecret: secrets.seal(newWebhookSecret(), endpointId),
      data: isTest ? null : EVENT_CATALOGUE[eventType].example,
      occurredAt: now,
    },
    secrets,
  );
}

test('each type of event has an entry', () => {
  expect(Object.keys(document.webhooks)).toEqual(EVENT_TYPES);
});

describe.each(EVENT_TYPES)('%s', (type) => {
  const { parameters, requestBody, responses } = document.webhooks[type]!.post;
  const { schema, example } = requestBody.content['application/json'];
  const message = z.fromJSONSchema(named(document.components.schemas, schema));

  test.each([false, true])('what is sent fits its schema (a test: %s)', (isTest) => {
    expect(message.safeParse(JSON.parse(sent(type, isTest).body))).toMatchObject({ success: true });
  });

  test('has an example, and refuses what is none', () => {
    expect(message.safeParse(example)).toMatchObject({ success: true });
    expect(message.safeParse({ ...(example as object), type: 'nothing.known' }).success).toBe(false);
  });

  test('names the headers that are sent, and what their values look like', () => {
    const { headers } = sent(type, false);
    const told = parameters.map((reference) => named(document.components.parameters, reference));
    expect(told.map(({ name }) => name).toSorted()).toEqual(
      Object.keys(headers)
        .filter((name) => !['Content-Type', 'User-Agent'].includes(name))
        .toSorted(),
    );
    for (const { name, schema: shape } of told) {
      const value = shape.type === 'integer' ? Number(headers[name]) : headers[name];
      expect([name, z.fromJSONSchema(shape as JsonSchema).safeParse(value).success]).toEqual([name, true]);
    }
  });

  test('says what an answer means', () => {
    const meaning = (status: string) => named(document.components.responses, responses[status]!).description;
    expect(meaning('2XX')).toMatch(/^Taken\. Answer within 15 seconds/);
    expect(meaning('410')).toContain('switched off');
    expect(meaning('default')).toContain('sent again after 1 s, 5 s, 30 s, 2 min and 15 min');
  });
});
