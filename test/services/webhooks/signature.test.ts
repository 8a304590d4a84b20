import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { newWebhookSecret, signatureHeaders } from '../../../services/webhooks/signature.ts';

const eventId = 'evt_0351EFUQxpVTZ7WdNYMSuY';
const given = 'a secret of the subscriber’s own, ünïcode included';

describe('signatures', () => {
  test('the stock Standard Webhooks library verifies generated and given secrets', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (data, isGenerated) => {
        const secret = isGenerated ? newWebhookSecret() : given;
        const body = JSON.stringify({ data });
        const headers = signatureHeaders({ eventId, sentAt: new Date(), body }, [secret]);
        const stock = isGenerated ? new Webhook(secret) : new Webhook(Buffer.from(secret, 'utf8').toString('base64'));
        expect(stock.verify(body, headers)).toEqual(JSON.parse(body));
        expect(() => stock.verify(`${body} `, headers)).toThrow();
        expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow();
      }),
    );
  });

  test('a receiver with the contract alone verifies the plain signature', () => {
    const body = '{"type":"attribution.completed"}';
    for (const secret of [newWebhookSecret(), given]) {
      expect(signatureHeaders({ eventId, sentAt: new Date(), body }, [secret])['X-SVC-Signature']).toBe(
        createHmac('sha256', secret).update(body).digest('hex'),
      );
    }
  });

  test('a replaced secret signs beside the current one', () => {
    const [current, replaced] = [newWebhookSecret(), newWebhookSecret()];
    const headers = signatureHeaders({ eventId, sentAt: new Date(), body: '{}' }, [current, replaced]);
    for (const secret of [current, replaced]) expect(new Webhook(secret).verify('{}', headers)).toEqual({});
  });

  test('an old message is refused by its receiver', () => {
    const secret = newWebhookSecret();
    const headers = signatureHeaders({ eventId, sentAt: new Date(Date.now() - 6 * 60_000), body: '{}' }, [secret]);
    expect(() => new Webhook(secret).verify('{}', headers)).toThrow(/old/i);
  });
});
