import { z } from 'zod';
import type { Interrupt, Message, ResponsePart, ToolPart } from '../agent/messages.ts';
import type { Tool } from '../agent/tool.ts';
import { completeTask } from '../tools/built-ins.ts';
import { editorOf } from '../tools/gate.ts';
import { classifyInterrupt } from './classify-interrupt.ts';

/** The people of a thread's present part: those who instruct the agent, and all others whose words the model is sent. */
export interface TaskPeople {
  /** In the order in which they joined; the first is shown first. */
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
}

/** The lookup of tools, which tells a call with an effect from one that only reads. */
export interface ToolLookup {
  find(name: string): { readonly tool: Pick<Tool, 'kind'> & { readonly effect?: string } } | undefined;
}

/** The requester of a task that nobody is known to have asked for. */
export const NOBODY = 'nobody';

const Author = z.object({
  user: z.string(),
  role: z.enum(['requester', 'context']),
  /** The requesters of an earlier request that is asked for again. */
  requesters: z.array(z.string()).default([]),
});
const Answered = z.object({ answeredBy: z.string() }).partial();

/**
 * Collects the people of a thread. Requesters are those who instructed the agent since something was last decided or carried out and
 * told: authors of instructions, people who answered a question, and people who edited a call. Everybody else whose words are on
 * record is a context author, because the model is sent the words of all.
 */
export function peopleOf(messages: readonly Message[], toolbox: ToolLookup): TaskPeople {
  const requesters = instructorsIn(presentPart(messages, toolbox));
  const everyone = new Set([...instructorsIn(messages), ...peopleIn(messages, 'authors')]);
  return { requesters, contextAuthors: [...everyone].filter((person) => !requesters.includes(person)) };
}

/** The people of one message. */
interface Speakers {
  /** Those who instruct the agent by it; the author first. */
  readonly instructors: readonly string[];
  /** Those whose words it holds. */
  readonly authors: readonly string[];
}

/** The speakers of the messages that were read. A message never changes, and a turn asks several times. */
const read = new WeakMap<Message, Speakers>();

function speakersOf(message: Message): Speakers {
  const known = read.get(message);
  if (known !== undefined) return known;
  const speakers = readSpeakers(message);
  read.set(message, speakers);
  return speakers;
}

const NONE: Speakers = { instructors: [], authors: [] };

function readSpeakers(message: Message): Speakers {
  if (message.role === 'model') return NONE;
  if (message.role === 'tool') return { instructors: message.content.flatMap(replierOf), authors: [] };
  // Nobody wrote it.
  if (message.metadata?.user === undefined) return NONE;
  const { user, role, requesters } = Author.parse(message.metadata);
  return { instructors: role === 'requester' ? [user, ...requesters] : [], authors: [user] };
}

/** Returns the person who edited a call or answered a question. */
function replierOf(part: ToolPart): string | readonly string[] {
  if ('interrupt' in part) return editorOf(part.interrupt) ?? [];
  if (part.metadata === undefined) return [];
  return Answered.safeParse(part.metadata).data?.answeredBy ?? [];
}

/** Lists the people who instructed the agent in these messages, in the order in which they joined. */
function instructorsIn(messages: readonly Message[]): readonly string[] {
  return [...peopleIn(messages, 'instructors')];
}

function peopleIn(messages: readonly Message[], part: keyof Speakers): ReadonlySet<string> {
  const people = new Set<string>();
  // Loops, because a thread can have thousands of messages.
  for (const message of messages) for (const person of speakersOf(message)[part]) people.add(person);
  return people;
}

/** Lists everyone who has instructed the agent in a thread, in any of its tasks. */
export function askersIn(messages: readonly Message[]): readonly string[] {
  const asking = messages.filter(({ role }) => role === 'user');
  return [...new Set(asking.flatMap((message) => speakersOf(message).instructors.slice(0, 1)))];
}

/**
 * Returns since when each person instructs the agent in a thread, as the time of a message. Who has never done so instructs
 * only by addressing the agent; words from before are context, however late they arrive.
 */
export function instructingSince(messages: readonly Message[]): ReadonlyMap<string, number> {
  const since = new Map<string, number>();
  let latest = 0;
  for (const message of messages) {
    const at = message.role === 'user' ? writtenAt(String(message.metadata?.ts)) : undefined;
    latest = Math.max(latest, at ?? 0);
    for (const person of speakersOf(message).instructors)
      since.set(person, Math.min(since.get(person) ?? Number.POSITIVE_INFINITY, at ?? latest));
  }
  return since;
}

/** Reads the time of a message, in seconds, from its id; an item that is no message has none. */
export function writtenAt(ts: string): number | undefined {
  return /^\d+\.\d+$/.test(ts) ? Number(ts) : undefined;
}

export function requestersOf(messages: readonly Message[], toolbox: ToolLookup): readonly string[] {
  return peopleOf(messages, toolbox).requesters;
}

/** Lists everyone whose words the model reads in the task, requesters first. */
export function everyoneIn({ requesters, contextAuthors }: TaskPeople): readonly string[] {
  return [...requesters, ...contextAuthors];
}

/** Collects the people of the task that runs, or of the one that the last message has ended. */
export function latestPeopleOf(messages: readonly Message[], toolbox: ToolLookup): TaskPeople {
  const last = messages.findLastIndex((message) => !isFinal(message) && message.role !== 'tool');
  return peopleOf(messages.slice(0, last + 1), toolbox);
}

/** Lists the people whom the next answer answers: those who instructed the agent since its last final answer. */
export function answeredPeople(messages: readonly Message[]): readonly string[] {
  return instructorsIn(sinceAnswer(messages));
}

/** Returns the messages after the agent's last final answer. */
export function sinceAnswer(messages: readonly Message[]): readonly Message[] {
  return messages.slice(messages.findLastIndex(isFinal) + 1);
}

/**
 * Returns the messages of the present part of a thread: those after the last final answer that told of something decided or carried
 * out. An answer in words alone, or after reading only, ends nobody's part.
 */
export function presentPart(messages: readonly Message[], toolbox: ToolLookup): readonly Message[] {
  const asked = new Set<string>();
  let start = 0;
  let hasEnded = false;
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool')
      for (const part of message.content) {
        if ('toolResponse' in part) hasEnded ||= endsPart(part, asked, toolbox);
        else if (isDecidedByPeople(part.interrupt)) asked.add(part.interrupt.toolRequest.ref);
      }
    if (!hasEnded || !isFinal(message)) continue;
    start = index + 1;
    hasEnded = false;
  }
  return messages.slice(start);
}

/** True for a pause that lets people decide; an answer to a question decides nothing. */
function isDecidedByPeople(interrupt: Interrupt): boolean {
  return ['approval', 'plan', 'unknown'].includes(classifyInterrupt(interrupt).kind);
}

const Closed = z.object({ status: z.string() });
/** The ends of calls about which nobody was asked. */
const NOT_ASKED: readonly (string | undefined)[] = [undefined, 'failed', 'not-asked', 'joined'];

/** Tells whether a result is the end of a request that people were asked about, or of an effect that ran without asking. */
function endsPart(
  { status, toolResponse: { name, ref, output } }: ResponsePart,
  asked: ReadonlySet<string>,
  toolbox: ToolLookup,
): boolean {
  const closed = status === 'closed' ? Closed.safeParse(output).data?.status : status;
  if (closed === 'ran') return true;
  if (asked.has(ref)) return !NOT_ASKED.includes(closed);
  const tool = toolbox.find(name)?.tool;
  return status === 'ok' && tool?.kind === 'tool' && tool.effect !== 'none';
}

/** A final answer is a model's message without calls, or one that only completes the task. */
function isFinal(message: Message): boolean {
  if (message.role !== 'model') return false;
  return message.content.every(
    (part) => !('toolRequest' in part) || part.toolRequest.name === completeTask.name,
  );
}
