import { z } from 'zod';
import { MAX_REDIRECT_URI_LENGTH, MAX_REDIRECT_URIS, redirectUriFault } from '../redirect-uri.ts';
import { CAPABILITIES } from '../value-lists.ts';
import { capability } from './agent-profile.ts';
import { id, inRest, namedAddress, ownRestForm } from './terms.ts';

const name = z
  .string()
  .regex(/^[A-Za-z0-9-]{3,64}$/, 'must be 3 to 64 letters, digits or hyphens')
  .meta({
    graph: '3 to 64 letters, digits or hyphens.',
  });

/** Where notifications may go is judged behind the door, where its host is looked up. */
const callbackUrl = inRest(ownRestForm(namedAddress)!.form, z.string().meta({ scalar: 'URL' }));

const redirectUri = z
  .string()
  .max(MAX_REDIRECT_URI_LENGTH)
  .superRefine((uri, context) => {
    const fault = redirectUriFault(uri);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault, params: { code: 'invalid_redirect_uri' } });
  })
  .meta({ scalar: 'URL', format: 'uri', description: 'https, or http on 127.0.0.1 or localhost; no fragment' });

export const registration = z
  .object({
    name,
    operatorId: z.string().trim().min(1).max(256).optional().meta({
      description: 'Operator or organisation; this or operator_email',
      graph: 'Operator or organisation identifier; one agent per operator.',
    }),
    operatorEmail: z.email().max(320).optional().meta({ graph: 'Operator contact; one agent per operator.' }),
    capabilities: z
      .array(capability)
      .min(1)
      .max(CAPABILITIES.length)
      .optional()
      .meta({
        default: ['attribution'],
        graph: 'Defaults to ATTRIBUTION.',
      }),
    referralCode: z
      .string()
      .regex(/^REF_[A-Z0-9_]{4,32}$/, 'must look like REF_ and 4 to 32 capitals, digits or _')
      .optional()
      .meta({ graph: 'Code of the agent that referred this one.' }),
    callbackUrl: callbackUrl.optional().meta({
      description: 'Receives commission notifications',
      graph: 'https address that receives commission notifications.',
    }),
  })
  .refine((given) => given.operatorId !== undefined || given.operatorEmail !== undefined, {
    path: ['operatorId'],
    message: 'give operator_id or operator_email',
    params: { code: 'required' },
    // Also where another member is wrong, so that one answer tells of everything; in the names of either door.
    when: ({ value, issues }) =>
      typeof value === 'object' &&
      value !== null &&
      !issues.some(({ path }) => String(path?.[0]).startsWith('operator')),
  })
  .meta({ graph: 'Registration of an agent. One of operatorId and operatorEmail is required.' });

export const agentUpdate = z
  .object({
    name: name.optional(),
    callbackUrl: callbackUrl.nullable().optional().meta({
      description: 'Receives commission notifications; null removes it',
      graph: 'https address that receives commission notifications; null removes it.',
    }),
    redirectUris: z
      .array(redirectUri)
      .max(MAX_REDIRECT_URIS)
      .optional()
      .meta({
        description: 'Where OAuth may send resource owners back to; replaces the whole list',
        graph:
          `Where OAuth may send resource owners back to: https, or http on 127.0.0.1 or localhost with any ` +
          `port. At most ${MAX_REDIRECT_URIS}; an empty list removes them.`,
      }),
    public: z.boolean().optional().meta({
      description: 'An OAuth client that cannot keep a secret: PKCE alone protects its codes',
      graph: 'Whether it is an OAuth client that cannot keep a secret.',
    }),
  })
  .meta({ graph: 'Changes to the calling agent; what is left out stays.' });

export const capabilitiesRequest = z
  .object({
    capabilities: z.array(capability).min(1, 'name at least one capability').max(CAPABILITIES.length).meta({
      graph: 'At least one; replaces all that were there.',
    }),
  })
  .meta({ id: 'CapabilitiesRequest', graph: 'The capabilities that the calling agent declares.' });

/** What whoever leaves may say. */
export const closing = z
  .object({
    confirm: inRest(z.string().max(128), id('agent')).optional().meta({
      description: 'The calling agent, agent_… or its UUID: what is refused where it is another',
      graph: 'The calling agent: what is refused where it is another.',
    }),
    reason: z.string().min(1).max(200).optional().meta({ description: 'Why, for the audit log' }),
  })
  .meta({ id: 'AgentClosing', graph: 'What may be said of the end of an agent.' });
