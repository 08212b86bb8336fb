import type { JsonObject, JsonValue } from '../../src/agent/json.ts';
import { toPauseMetadata } from '../../src/agent/pause.ts';
import { builtIns } from '../../src/tools/built-ins.ts';
import { withAsk } from '../../src/tools/pause.ts';

/** The metadata that the pause of a built-in has in the bot; none for any other tool. */
export function pauseMetadata(name: string, input: JsonValue): JsonObject | undefined {
  const tool = builtIns.find((each) => each.name === name);
  if (tool?.kind !== 'interrupt') return undefined;
  const own = tool.requestMetadata?.(input);
  if (own instanceof Promise) throw new Error(`${name} asks asynchronously`);
  return withAsk(toPauseMetadata(own, tool) ?? {}, { tool, input, answerers: () => 'anyone' });
}
