import { DefinitionError } from './errors.ts';
import type { Model, ModelRequest } from './model.ts';

/** A call in the script of a model. */
export interface ScriptedCall {
  /** The name of the tool. */
  readonly call: string;
  readonly input?: unknown;
  /** The ref of the call; without it, the loop makes one. */
  readonly ref?: string;
}

/** One reply of a scripted model: a text, a call, or several calls at once. */
export type ScriptedReply = string | ScriptedCall | readonly ScriptedCall[];

export interface ScriptedModel extends Model {
  /** The requests so far, with all that the model was told. */
  readonly requests: readonly ModelRequest[];
}

/** Builds a model for tests of tools: it gives these replies in order, and a request beyond them is an error. */
export function scriptedModel(script: readonly ScriptedReply[]): ScriptedModel {
  const requests: ModelRequest[] = [];
  return {
    name: 'scripted',
    requests,
    async reply(request) {
      const reply = script[requests.length];
      requests.push(request);
      if (reply === undefined) {
        const problem = `The script of scriptedModel has ${script.length} replies, and the model was asked once more`;
        throw new DefinitionError('invalid-option', problem);
      }
      if (typeof reply === 'string') {
        request.onText?.(reply);
        return { finish: 'stop', text: reply, calls: [], usage: undefined };
      }
      const calls = (Array.isArray(reply) ? reply : [reply]).map(({ call, input = {}, ref = '' }) => ({
        id: ref,
        name: call,
        arguments: JSON.stringify(input),
      }));
      return { finish: 'stop', text: '', calls, usage: undefined };
    },
  };
}
