import { stringify } from 'yaml';
import { tryParseJson } from '../agent/json.ts';
import { showLine } from '../bot/views/texts/show-text.ts';
import { type HttpAnswer, jsonAnswer } from '../http/http-answer.ts';
import { manifestIn } from '../store/documents/manifest.ts';
import { POLICY_CHANGE_TOOL } from '../tools/toolbox/policy-change.ts';
import type { ApiCall } from './api-call.ts';
import { namesOf } from './people.ts';
import type { ManifestView } from './protocol.ts';

/** Shows the manifest that holds, and by whose approval it does. */
export async function showManifest({ context }: ApiCall): Promise<HttpAnswer> {
  const { store, toolbox, manifest, index, redact } = context;
  const recorded = await manifestIn(store).readManifest();
  const changes = (await index.all()).filter(
    ({ tool, state }) => tool === POLICY_CHANGE_TOOL && state === 'succeeded',
  );
  const last = recorded?.isGoverned === true ? changes.at(-1) : undefined;
  const by =
    last === undefined
      ? []
      : last.votes.flatMap(({ who, decision }) => (decision === 'approve' ? [who] : []));
  return jsonAnswer(200, {
    digest: recorded?.digest ?? '',
    text: redact(ownText(manifest().source)),
    isGoverned: recorded?.isGoverned === true,
    ...(last !== undefined && { approval: { id: last.id, title: showLine(last.title), by } }),
    tools: toolbox
      .tools()
      .map(({ name }) => name)
      .sort(),
    names: (await namesOf(context, by)).names,
  } satisfies ManifestView);
}

/** Returns a manifest as it is written; while another one waits for approval, the active one is the recorded line of JSON. */
function ownText(source: string): string {
  const value = tryParseJson(source);
  return value === undefined ? source : stringify(value);
}
