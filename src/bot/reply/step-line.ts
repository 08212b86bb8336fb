import { tryParseJson } from '../../agent/json.ts';
import type { ModelReply } from '../../agent/model.ts';
import { readableName } from '../../tools/presentation/readable-name.ts';
import type { Toolbox } from '../../tools/toolbox/toolbox.ts';
import { statusTexts } from '../texts/replies.ts';

/** Names the calls of a reply in the status line, by the titles of their tools; `undefined` if there are none. */
export function stepLine(
  toolbox: Pick<Toolbox, 'find'>,
  { calls }: Pick<ModelReply, 'calls'>,
): string | undefined {
  const [first, ...others] = calls;
  if (first === undefined) return undefined;
  const { presentation } = toolbox.find(first.name) ?? {};
  const title = presentation?.present(tryParseJson(first.arguments) ?? {}).title ?? readableName(first.name);
  return statusTexts.running(title, others.length);
}
