import { isJsonObject, type JsonObject, type JsonValue } from '../../../agent/json.ts';
import { pointerTo } from '../../../agent/util/json-pointer.ts';
import type { Finding } from '../problem.ts';

/** Matches the ids of a manifest to start from; no id in Slack looks like that. */
const PLACEHOLDER = /^([UWSCG])0?REPLACEME[A-Z0-9]*$/;

const KINDS: Readonly<Record<string, string>> = {
  U: 'a person of your workspace',
  W: 'a person of your workspace',
  S: 'a user group of your workspace',
  C: 'a channel of your workspace',
  G: 'a channel of your workspace',
};

/** Finds the ids that must be replaced before a bot can start. */
export function findPlaceholders({ agent = null, policies = null, tools = null }: JsonObject): Finding[] {
  const findings: Finding[] = [];
  const visit = (value: JsonValue, pointer: string): void => {
    if (typeof value === 'string') {
      const [, kind = ''] = PLACEHOLDER.exec(value) ?? [];
      const message = `"${value}" is a placeholder; replace it with the id of ${KINDS[kind]}`;
      if (kind !== '') findings.push({ pointer, at: 'value', message });
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, pointerTo(pointer, index));
    } else if (isJsonObject(value)) {
      for (const [key, entry] of Object.entries(value)) visit(entry, pointerTo(pointer, key));
    }
  };
  for (const [section, value] of Object.entries({ agent, policies, tools })) visit(value, `/${section}`);
  return findings;
}
