import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildModule } from '../support/build-module.ts';
import { temporaryFolder } from '../tools/mcp/support.ts';
import { CAST, type Story, startStory, type Thread } from './support.ts';

const fixture = (name: string) =>
  buildModule(fileURLToPath(new URL(`../tools/mcp/fixtures/${name}.ts`, import.meta.url)));
const scripts = { current: await fixture('asking-server'), older: await fixture('older-asking-server') };
export type Protocol = keyof typeof scripts;

interface AskingOptions {
  readonly rule?: string;
  readonly elicitation?: string;
  readonly grants?: string;
  readonly answers?: string;
  readonly approvers?: readonly string[];
}

/** The answer that the form of the server takes. */
export const FILLED: Readonly<Record<string, string>> = { 'field-0': 'Remi', 'field-1': '3' };
export const APPROVED = { rule: '{ policy: default }' };

/** A manifest with a server that asks people, and what the server noted. */
export function askingManifest(
  protocol: Protocol,
  {
    rule = '{ require: never }',
    elicitation = '',
    grants = '',
    answers = '',
    approvers = [CAST.alice],
  }: AskingOptions = {},
) {
  const file = join(temporaryFolder(), 'notes');
  const asks = elicitation === '' ? '' : `, elicitation: ${elicitation}`;
  const free = answers === '' ? '' : `, answers: ${answers}`;
  const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., admins: [${CAST.admin}] }
policies:
  default: { approvers: [${approvers.join(', ')}], notify: { direct_messages: false }${grants === '' ? '' : `, grants: ${grants}`} }
tools:
  bookings:
    mcp: { command: ${JSON.stringify(process.execPath)}, args: ${JSON.stringify([scripts[protocol], file])}${asks}${free} }
    approval: [ ${rule} ]
`;
  const notes = () =>
    readFileSync(file, { encoding: 'utf8', flag: 'a+' })
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('started '));
  return { manifest, notes };
}

export const ask = (name: string) => ({ calls: [{ name, arguments: { day: 'Monday' } }] });

/** Starts a story in which the model calls a tool whose server asks, and says `last` once it has the result. */
export async function startAsking(protocol: Protocol, tool: string, last: string, options?: AskingOptions) {
  const { manifest, notes } = askingManifest(protocol, options);
  const story = await startStory({ manifest, replies: [ask(tool), { text: last }] });
  return { story, notes, thread: story.ask('begin') };
}

/** The same with a call that a person has to approve, and has approved. */
export async function startApproved(protocol: Protocol, tool: string, last: string, options?: AskingOptions) {
  const started = await startAsking(protocol, tool, last, { ...APPROVED, ...options });
  await started.thread.click(CAST.alice, /Approval needed/, 'approve');
  return started;
}

/** Fills in the form of a question as the requester, and returns what Slack was told. */
export async function fillIn(story: Story, thread: Thread, question: RegExp, values = FILLED) {
  await thread.click(CAST.requester, question, 'fill-in');
  const modal = await story.modalFor(CAST.requester);
  return story.workspace.as(CAST.requester).submit(modal.id, values);
}

/** The card that asks approvers about an answer. */
export const ANSWER_CARD = /Approval needed: Answer to/;

/** Approves the answer that waits. */
export async function approveAnswer(thread: Thread, who: string = CAST.alice) {
  await thread.shows(ANSWER_CARD);
  await thread.click(who, ANSWER_CARD, 'approve');
}

/** Has a call approved whose server asks, and changes the policy before anybody answers. */
export async function startChanged() {
  const { manifest, notes } = askingManifest('current', APPROVED);
  const story = await startStory({ manifest, withoutBot: true, replies: [ask('book_table')] });
  const { toolbox } = await story.startOwnBot();
  const thread = story.ask('begin');
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await thread.shows(/Waiting for .* to answer bookings/);
  const { policies, ...rest } = toolbox.manifest;
  const policy = policies.get('default');
  if (policy === undefined) throw new Error('no policy');
  await toolbox.replace({ ...rest, policies: new Map([['default', { ...policy, expiresMs: 7_000_000 }]]) });
  return { story, notes, thread };
}
