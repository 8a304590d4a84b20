import { agentProfile } from '../../schema/contract/agent-profile.ts';
import { agents } from '../../schema/contract/agents.ts';
import { restForm } from '../../schema/contract/rest-form.ts';
import { operationsOf, recordPresenter } from '../contract-operations.ts';
import { inOrder, objectAt } from '../members.ts';
import { trustEnvelope } from '../representations/trust-envelope.ts';

/** What others see of an agent. */
const PUBLIC_MEMBERS = {
  agent_id: true,
  name: true,
  capabilities: true,
  tier: true,
  trust_score: true,
  created_at: true,
  trust: true,
} as const;

const profile = restForm(agentProfile).extend({ trust: trustEnvelope });
/** An agent as it shows itself to others; the members that only the agent itself sees follow. */
const seenAgent = profile
  .partial()
  .required(PUBLIC_MEMBERS)
  .meta({ id: 'SeenAgent', description: 'Others see agent_id, name, capabilities, tier, trust_score and created_at.' });
const presentProfile = recordPresenter(agentProfile);
const publicFace = profile.pick(PUBLIC_MEMBERS);

export const agentOperations = operationsOf(agents, {
  registerAgent: { strangerLimit: 'register' },
  getAgent: {
    success: { status: 200, description: agents.operations.getAgent.answered, schema: seenAgent },
    present: (data) => {
      const agent = objectAt(data, 'agent');
      return agent['agent_uuid'] == null ? inOrder(publicFace, agent) : presentProfile(agent);
    },
  },
});
