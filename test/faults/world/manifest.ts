import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import { GRANTED_USES, MOST_CAPPED, RULES, UNSIGNED, USERS } from './cast.ts';

const policies = Object.entries(RULES).map(([tool, { approvers, quorum, expiresMs }]) => {
  const late = tool === 'linger' ? `, escalate: { after: 2s, to: [${CAST.admin}] }` : '';
  const grants =
    tool === 'favored'
      ? `, grants: { for: 1h, uses: ${GRANTED_USES}, scope: requester, when: "input.amount > 0" }`
      : '';
  const delegation = tool === 'deputed' ? ', delegation: true' : '';
  const passkey = tool === 'sealed' ? ', confirm: passkey' : '';
  const expires = `${expiresMs / 1_000}s`;
  return `  ${tool}: { approvers: [${approvers.join(', ')}], resolvers: [${CAST.admin}], quorum: ${quorum}, expires: ${expires}, notify: { direct_messages: ${tool === 'linger'}${tool === 'linger' ? ', remind: 1s' : ''} }${late}${grants}${delegation}${passkey} }`;
});
const rules = [
  ...Object.keys(RULES).map((tool) => `      - { match: ${tool}, policy: ${tool} }`),
  ...Object.keys(UNSIGNED).map((tool) => `      - { match: ${tool}, require: never }`),
];

/** The key of the caller that comes through the door. */
export const CALLER_KEY = 'caller-key-'.repeat(5);

/** The secret of the page at whoever signs people in; nobody signs in there, since the approver with a passkey has a session. */
export const PAGE_SECRET = 'page-secret';

/** The tools with effects of their own, each under its own policy; nobody is kept from asking for much. */
export const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent:
  instructions: Do as you are told.
  limits: { pending_per_person: 100000 }
policies:
  default: { approvers: [${CAST.admin}] }
${policies.join('\n')}
limits:
  capped: { per: tool, window: 1h, max: ${MOST_CAPPED} }
tools:
  effects:
    module: ./tools.mjs
    reversible: yes
    title: "Take effect for {{input.token}}"
    approval:
${rules.join('\n')}
page: { client_id: faults, client_secret: "\${PAGE_SECRET}" }
callers:
  job:
    owner: ${CAST.requester}
    identity: { key: "\${CALLER_KEY}" }
    channel: ${CHANNELS.general}
    tools: [charge, credit]
    ask: [charge]
    limits: { pending: 100000, per_hour: 1000000 }
`;

/** The same for a bot in which anybody may approve, the requester too. */
export const ANYBODY_APPROVES = MANIFEST.replaceAll(
  /approvers: \[[^\]]*\]/g,
  `approvers: [${USERS.map(({ id }) => id).join(', ')}], self_approval: true`,
);
