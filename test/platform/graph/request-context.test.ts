import { freshContext, perRequest } from '../../../platform/graph/request-context.ts';

describe('values per request', () => {
  const context = () => ({ requestId: 'req_1', principal: null, apiVersion: '2026-02-01' });

  test('are made once per context, on first use, from it', () => {
    const made: object[] = [];
    const valueOf = perRequest((from) => {
      made.push(from);
      return { from };
    });
    const [one, other] = [context(), context()];
    expect(valueOf(one)).toBe(valueOf(one));
    expect(valueOf(one)).not.toBe(valueOf(other));
    expect(made).toEqual([one, other]);
    expect(made[0]).toBe(one);
  });

  test('undefined is a value too', () => {
    let made = 0;
    const valueOf = perRequest(() => void (made += 1));
    const one = context();
    valueOf(one);
    valueOf(one);
    expect(made).toBe(1);
  });

  test('are not shared with a fresh context', () => {
    const valueOf = perRequest(() => ({}));
    const one = context();
    const fresh = freshContext(one);
    expect(fresh).toEqual(one);
    expect(valueOf(fresh)).not.toBe(valueOf(one));
  });
});
