import { DEFAULT_USERS } from '../../playground/slack/default-cast.ts';
import { CAST, PLACES, type Story } from './support.ts';

const { alice, bruno, admin, requester } = CAST;
/** Two people who approve nothing by themselves. */
export const DORA = 'U0DORA0007';
export const EVAN = 'U0EVAN0008';
export const PEOPLE = [
  ...DEFAULT_USERS,
  { id: DORA, name: 'dora', real_name: 'Dora Delegate' },
  { id: EVAN, name: 'evan', real_name: 'Evan Else' },
];
export const CHANNEL = {
  id: PLACES.general,
  name: 'general',
  members: ['bot', requester, alice, bruno, admin, DORA, EVAN],
};
/** A workspace in which they are in the channel. */
export const slack = { users: PEOPLE, channels: [CHANNEL] };

/** A call that needs approval. */
export const refund = {
  calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000, reason: '' } }],
};
/** A manifest in which a policy approves refunds. */
export const manifestWith = (policy: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., admins: [${admin}] }
policies:
  default: { ${policy} }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`;
export const ONE = manifestWith(`approvers: [${alice}], delegation: true`);
/** Types the command of the bot. */
export const command = (story: Story, who: string, text: string) =>
  story.workspace.as(who).command('/countersign', text, { channel: PLACES.general });
/** Waits for words that only one person sees. */
export const shown = (story: Story, who: string, words: RegExp) =>
  story.workspace.until(
    () =>
      story.workspace
        .ephemeralsFor(who)
        .find(({ blocks, text }) => words.test(`${text} ${JSON.stringify(blocks)}`)),
    { what: `${words} for ${who}` },
  );
/** Lets somebody decide for a person, who is told so. */
export async function delegate(story: Story, from: string, to: string, time = 'until Friday'): Promise<void> {
  const answers = () => {
    const words = new RegExp(`"Until "[\\s\\S]*${to}[\\s\\S]*can approve and reject for you`);
    return story.workspace.ephemeralsFor(from).filter(({ blocks }) => words.test(JSON.stringify(blocks)));
  };
  // The same may have been answered before.
  const before = answers().length;
  await command(story, from, `delegate <@${to}> ${time}`);
  await story.workspace.until(() => answers().length > before, { what: `the delegation to ${to}` });
}
export const refunded = async (story: Story) => (await story.ledger.order('A-1001'))?.refunded;
