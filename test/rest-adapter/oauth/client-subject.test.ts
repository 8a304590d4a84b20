import { clientSubject } from '../../../rest-adapter/oauth/client-subject.ts';

test('clients of an address are counted apart, and made-up ones fill no table', () => {
  const ids = Array.from({ length: 5_000 }, (_, index) => `agent_${String(index).padStart(22, '0')}`);
  const subjects = new Set(ids.map((id) => clientSubject(id, '192.0.2.7')));
  expect(subjects.size).toBe(64);
  expect(clientSubject(ids[0], '192.0.2.7')).toBe(clientSubject(ids[0], '192.0.2.7'));
  expect(clientSubject(ids[0], '192.0.2.8')).not.toBe(clientSubject(ids[0], '192.0.2.7'));
  expect(clientSubject('no client', '192.0.2.7')).toBe(clientSubject(undefined, '192.0.2.7'));
});
