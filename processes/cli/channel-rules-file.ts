import { readFile } from 'node:fs/promises';
import { newChannelRules, type ChannelRule } from '../../schema/contract/channel-rules.ts';
import { BadInputError } from './bad-input-error.ts';

/** Members that requests write with `_`. */
const OURS: Readonly<Record<string, string>> = { click_id: 'clickId', campaign_regex: 'campaignRegex' };

/**
 * Channel rules from a JSON file: the body of `PUT /data-sources/{id}/channel-rules`, or its list of rules.
 * @throws BadInputError naming the place
 */
export async function readChannelRules(path: string): Promise<readonly ChannelRule[]> {
  const refuse = (why: string, cause?: unknown): never => {
    throw new BadInputError(`${path}: ${why}`, { cause });
  };
  const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) =>
    refuse(`the channel rules cannot be read (${error.code ?? error.message}). Check the path.`, error),
  );
  const given = await Promise.resolve(content)
    .then((text) => JSON.parse(text, renamed) as unknown)
    .catch((error: unknown) => refuse('the channel rules are no JSON.', error));
  const parsed = newChannelRules.safeParse(Array.isArray(given) ? { rules: given } : given);
  if (parsed.success) return parsed.data.rules;
  const [issue] = parsed.error.issues;
  return refuse(`${issue!.path.map(String).join('.') || 'rules'}: ${issue!.message}.`);
}

function renamed(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [Object.hasOwn(OURS, name) ? OURS[name] : name, member as unknown]),
  );
}
