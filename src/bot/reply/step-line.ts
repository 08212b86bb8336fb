import { tryParseJson } from '../../agent/json.ts';
import type { ModelReply, RawCall } from '../../agent/model.ts';
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
  return statusTexts.running(titleOf(toolbox, first), others.length);
}

function titleOf(toolbox: Pick<Toolbox, 'find'>, { name, arguments: given }: RawCall): string {
  try {
    const { presentation } = toolbox.find(name) ?? {};
    return presentation?.present(tryParseJson(given) ?? {}).title ?? readableName(name);
  } catch {
    // The model's arguments are not checked yet, and not every title can be made of them.
    return readableName(name);
  }
}
