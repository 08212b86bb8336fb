import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelReply, ReplyFunction, ScriptedCall } from '../../../playground/model/model-reply.ts';

const ORDER = /\b([\w-]+) (tok-[\w-]+) (\d+)/g;

/** A model that does what it is told: every order that people gave is called once, and then it says that it is finished. */
export const obey: ReplyFunction = ({ messages }) => {
  const said = messages
    .flatMap((message) => (message.role === 'user' ? [textOf(message.content)] : []))
    .join(' ');
  const called = messages
    .flatMap((message) => (message.role === 'assistant' ? (message.tool_calls ?? []) : []))
    .map((call) => JSON.stringify(call))
    .join(' ');
  const orders = [...said.matchAll(ORDER)].map(([, name = '', token = '', amount]) => ({
    name,
    token,
    amount,
  }));
  // People who heard nothing may have said the same twice.
  const open = orders.filter(
    ({ token }, at) => !called.includes(token) && orders.findIndex((order) => order.token === token) === at,
  );
  if (open.length > 1 && said.includes('together:')) {
    const steps = open.map(toCall).map(({ name, arguments: input }) => ({ tool: name, input }));
    return { calls: [{ name: 'propose_plan', arguments: { goal: 'Do all of it', steps } }] };
  }
  if (open.length > 0) return { calls: open.map(toCall) };
  return { text: `Finished ${orders.map(({ token }) => token).join(' ')}.` };
};

function toCall({
  name,
  token,
  amount,
}: {
  name: string;
  token: string;
  amount: string | undefined;
}): ScriptedCall {
  return name === 'ask'
    ? {
        name: 'ask_question',
        arguments: { question: `Left or right, ${token}?`, choices: ['left', 'right'] },
      }
    : { name, arguments: { token, amount: Number(amount) } };
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}

/** A model that can be made to fail: replies that were put in its way are given before it obeys again. */
export class FailingModel {
  #failures: ModelReply[] = [];
  /** The delay before the model answers. */
  thinksForMs = 0;

  /** The next calls, whosever they are, get these. */
  failNext(...replies: readonly ModelReply[]): void {
    this.#failures.push(...replies);
  }

  readonly reply: ReplyFunction = async (request, index) => {
    const failure = this.#failures.shift();
    if (failure !== undefined) return failure;
    await sleep(this.thinksForMs);
    return obey(request, index);
  };
}
