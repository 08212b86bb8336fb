import { z } from 'zod';
import type { Message } from '../../agent/messages.ts';
import { completeTask } from '../../tools/built-ins.ts';
import { editorOf } from '../../tools/gate/gate.ts';

/** The people of a task: those who instruct the agent, and those whose words it only reads. */
export interface TaskPeople {
  /** In the order in which they joined; the first is shown first. */
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
}

/** The requester of a task that nobody is known to have asked for. */
export const NOBODY = 'nobody';

const Author = z.object({
  user: z.string(),
  /** A message of an older version has no role; its author is a requester. */
  role: z.enum(['requester', 'context']).catch('requester'),
  /** The requesters of an earlier request that is asked for again. */
  requesters: z.array(z.string()).default([]).catch([]),
  /** The people whose words a note holds, beside the first. */
  authors: z.array(z.string()).default([]).catch([]),
});
const Answered = z.object({ answeredBy: z.string() }).partial().default({});

/**
 * Collects the people of the present task from its messages. Requesters are the authors of instructions, people who answered a
 * question, and people who edited a call. Every other author is a context author.
 */
export function peopleOf(messages: readonly Message[]): TaskPeople {
  const requesters = new Set<string>();
  const authors = new Set<string>();
  for (const message of presentTask(messages)) {
    if (message.role === 'user') {
      const author = Author.safeParse(message.metadata).data;
      if (author === undefined) continue;
      for (const person of [author.user, ...author.authors]) authors.add(person);
      if (author.role === 'requester')
        for (const person of [author.user, ...author.requesters]) requesters.add(person);
    }
    if (message.role === 'tool')
      for (const part of message.content) {
        const person =
          'interrupt' in part ? editorOf(part.interrupt) : Answered.safeParse(part.metadata).data?.answeredBy;
        if (person !== undefined) requesters.add(person);
      }
  }
  return {
    requesters: [...requesters],
    contextAuthors: [...authors].filter((person) => !requesters.has(person)),
  };
}

/** Lists everyone who has instructed the agent in a thread, in any of its tasks. */
export function askersIn(messages: readonly Message[]): readonly string[] {
  const askers = new Set<string>();
  for (const message of messages) {
    const author = message.role === 'user' ? Author.safeParse(message.metadata).data : undefined;
    if (author?.role === 'requester') askers.add(author.user);
  }
  return [...askers];
}

export function requestersOf(messages: readonly Message[]): readonly string[] {
  return peopleOf(messages).requesters;
}

/** Lists everyone whose words the model reads in the task, requesters first. */
export function everyoneIn({ requesters, contextAuthors }: TaskPeople): readonly string[] {
  return [...requesters, ...contextAuthors];
}

/** Lists the requesters of the task that runs, or of the one that the last message has ended. */
export function latestRequestersOf(messages: readonly Message[]): readonly string[] {
  const last = messages.findLastIndex((message) => !isFinal(message) && message.role !== 'tool');
  return requestersOf(messages.slice(0, last + 1));
}

/** Returns the messages after the agent's last final answer. */
export function presentTask(messages: readonly Message[]): readonly Message[] {
  return messages.slice(messages.findLastIndex(isFinal) + 1);
}

/** A final answer is a model's message without calls, or one that only completes the task. */
function isFinal(message: Message): boolean {
  if (message.role !== 'model') return false;
  return message.content.every(
    (part) => !('toolRequest' in part) || part.toolRequest.name === completeTask.name,
  );
}
