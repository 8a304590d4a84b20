import type { Json } from '../operation.ts';

/** What the operations under a tag are about. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  Attribution: 'What each channel added: analyses are run, watched, read and exported.',
  Verification: 'Whether a result was signed here, and has not been changed since.',
  'Data sources': 'Where touchpoints, conversions and spend come from: sources, their files and their channel rules.',
  Experiments: 'Results of holdout and geo tests, which calibrate analyses of overlapping ranges.',
  Agents: 'Agents register by themselves, and keep their own profile.',
  Referrals: 'Agents that registered with the code of another, and the tier that follows from them.',
  Keys: 'API keys: pairs of a live and a test key, with scopes, allowlists and ends.',
  OAuth: 'Access tokens for agents (RFC 6749), as JSON or as the forms that stock clients send.',
  Audit: 'The log of what happened in an account, one hash chain.',
  Events: 'Everything that happens to an account, as a stream.',
  Workspaces: 'What several accounts work on together, with roles.',
  Webhooks: 'Events are sent to addresses that subscribed to them, signed and at least once.',
  Billing: 'The plans that there are.',
  Health: 'Whether the service is well.',
};

/** Tag Objects of the document; a new tag needs a description here. */
export function tagsOf(names: Iterable<string>): Json[] {
  return [...new Set(names)].map((name) => {
    const description = DESCRIPTIONS[name];
    if (description === undefined) throw new Error(`the tag ${name} has no description`);
    return { name, description };
  });
}
