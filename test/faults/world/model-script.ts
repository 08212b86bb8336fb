import type { ModelReply, ReplyFunction, ScriptedCall } from '../../../playground/model/model-reply.ts';

const ORDER = /\b([\w-]+) (tok-[\w-]+) (\d+)/g;

/** A model that does what it is told: every order in the last words of a person is a call, and then it says that it is finished. */
export const obey: ReplyFunction = ({ messages }) => {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const words = textOf(messages[asked]?.content);
  const results = messages.slice(asked).filter(({ role }) => role === 'tool');
  const calls: ScriptedCall[] = [...words.matchAll(ORDER)].map(([, name = '', token, amount]) =>
    name === 'ask'
      ? {
          name: 'ask_question',
          arguments: { question: `Left or right, ${token}?`, choices: ['left', 'right'] },
        }
      : { name, arguments: { token, amount: Number(amount) } },
  );
  if (results.length === 0 && calls.length > 0) return { calls };
  return { text: `Finished ${words.match(/tok-[\w-]+/g)?.join(' ') ?? 'nothing'}.` };
};

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}

/** A model that can be made to fail: replies that were put in its way are given before it obeys again. */
export class FailingModel {
  #failures: ModelReply[] = [];

  /** The next calls, whosever they are, get these. */
  failNext(...replies: readonly ModelReply[]): void {
    this.#failures.push(...replies);
  }

  readonly reply: ReplyFunction = (request, index) => this.#failures.shift() ?? obey(request, index);
}
