import { isJsonObject, type JsonObject } from '../../agent/json.ts';
import { MOST_TOOLS } from '../most-tools.ts';
import { BUILT_IN_NAMES } from './manifest-file.ts';
import { pointerTo } from './pointer.ts';
import type { Finding } from './problem.ts';

/** Says which tool is one too many for the model; how many a server has is not known before it is reached. */
export function checkToolCount({ agent, tools }: JsonObject): Finding[] {
  const uses = isJsonObject(agent) && isJsonObject(agent.built_ins) ? agent.built_ins : {};
  const room = MOST_TOOLS - BUILT_IN_NAMES.filter((name) => uses[name] !== false).length;
  const everywhere = Object.entries(isJsonObject(tools) ? tools : {}).filter(
    ([, tool]) => isJsonObject(tool) && tool.mcp === undefined && tool.allow === undefined,
  );
  const tooMany = everywhere[room]?.[0];
  if (tooMany === undefined) return [];
  const message = `a model takes at most ${MOST_TOOLS} tools at once, built-ins among them, and this is one too many of ${everywhere.length}; take some out, or say with "allow" where they are used`;
  return [{ pointer: pointerTo('/tools', tooMany), at: 'key', message }];
}
