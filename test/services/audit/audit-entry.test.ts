import { auditEvents } from '../../../schema/contract/audit-events.ts';
import { entryHash, parseEntry } from '../../../services/audit/audit-entry.ts';
import { canonicalJson } from '../../../services/trust/canonical-json.ts';

test('the documented entry has the hash of its members', () => {
  const { hash, ...entry } = auditEvents.example;
  const stored = canonicalJson(entry);
  expect(entryHash(entry.previous_hash, stored)).toBe(hash);
  expect(parseEntry(stored)).toEqual(entry);
});
