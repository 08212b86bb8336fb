import { isJsonObject, type JsonObject, type JsonValue, pointerTo, segmentsOf } from '../../../agent/json.ts';
import { withHttpDefaults } from '../http-defaults.ts';
import type { Finding } from '../problem.ts';

/** Matches the names of headers, variables and fields that hold a secret. */
const SECRET_NAME =
  /(?:^|[-_.])(?:secret|token|password|passphrase|credentials?|(?:api|access|private|signing)[-_]?key)$|^(?:proxy-)?authorization$|(?:Secret|Token|Password|ApiKey|PrivateKey)$|^apikey$/i;
/** Matches `$NAME`, which a shell would fill in. */
const SHELL_VARIABLE = /(?<![$\\\w])\$([A-Z][A-Z0-9_]{2,})\b/;
/** Matches `{input.name}` with one brace. */
const SINGLE_BRACES = /(?<![{$])\{\s*((?:input|output)\.[\w.-]+)\s*\}(?!\})/;
const LOCAL = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/i;
const TEXT_KEYS = ['title', 'done', 'target', 'fields', 'preview', 'undo'];

/** Checks the values of a file before the environment is filled in: secrets that stand there, or that would be sent unencrypted, and what only looks like a placeholder. */
export function checkWritten(manifest: JsonObject): Finding[] {
  const { agent, tools, audit, page, http_defaults: defaults } = manifest;
  const { tools: filled } = withHttpDefaults(manifest);
  const entries = Object.entries(isJsonObject(tools) ? tools : {}).flatMap(([name, tool]) =>
    isJsonObject(tool) ? [[pointerTo('/tools', name), tool] as const] : [],
  );
  const connections = [
    ...entries.flatMap(([at, tool]) => [
      [`${at}/http`, tool.http] as const,
      [`${at}/mcp`, tool.mcp] as const,
    ]),
    ...(isJsonObject(agent) && isJsonObject(agent.model)
      ? (['headers', 'query'] as const).map(
          (key) => [`/agent/model/${key}`, isJsonObject(agent.model) ? agent.model[key] : null] as const,
        )
      : []),
    ['/http_defaults', defaults] as const,
    ...(isJsonObject(audit) ? [['/audit/http', audit.http] as const] : []),
    ['/page', page] as const,
  ].flatMap(([pointer, value]) => (isJsonObject(value) ? [[pointer, value] as const] : []));
  return [
    ...connections.flatMap(([pointer, connection]) => [
      ...checkAddress(pointer, filledIn(filled, pointer) ?? connection),
      ...textsIn(connection, pointer).flatMap(checkSent),
    ]),
    ...entries
      .flatMap(([at, tool]) => [
        [at, tool] as const,
        ...(Array.isArray(tool.cards) ? tool.cards : []).flatMap((card: JsonValue, index) =>
          isJsonObject(card) ? [[pointerTo(`${at}/cards`, index), card] as const] : [],
        ),
      ])
      .flatMap(([at, texts]) => TEXT_KEYS.flatMap((key) => textsIn(texts[key] ?? null, `${at}/${key}`)))
      .flatMap((written) => checkBraces(written, 'shown')),
  ];
}

/** Returns an HTTP tool with what it has from `http_defaults`; `undefined` for any other connection. */
function filledIn(tools: JsonValue | undefined, pointer: string): JsonObject | undefined {
  const [section, name = '', key] = segmentsOf(pointer);
  const tool = section === 'tools' && key === 'http' && isJsonObject(tools) ? tools[name] : undefined;
  return isJsonObject(tool) && isJsonObject(tool.http) ? tool.http : undefined;
}

interface WrittenText {
  readonly pointer: string;
  readonly text: string;
}

function textsIn(value: JsonValue, pointer: string): WrittenText[] {
  if (typeof value === 'string') return [{ pointer, text: value }];
  const entries: [string, JsonValue][] =
    isJsonObject(value) || Array.isArray(value) ? Object.entries(value) : [];
  return entries.flatMap(([key, entry]) => textsIn(entry, pointerTo(pointer, key)));
}

function checkSent(written: WrittenText): Finding[] {
  const { pointer, text } = written;
  const name = segmentsOf(pointer).at(-1) ?? '';
  const [variable, shell] = SHELL_VARIABLE.exec(text) ?? [];
  if (variable !== undefined) {
    const message = `${variable} is sent as it stands; write \${${shell}} for the variable of the environment`;
    return [{ pointer, at: 'value', inside: text.indexOf(variable), message }];
  }
  const isFilled = /\$\{|\{\{/.test(text);
  if (SECRET_NAME.test(name) && !isFilled && text !== '') {
    const message = `"${name}" holds a secret as plain text; keep it in the environment and write \${NAME} here`;
    return [{ pointer, at: 'value', message }];
  }
  return checkBraces(written, 'sent');
}

function checkBraces({ pointer, text }: WrittenText, fate: 'sent' | 'shown'): Finding[] {
  const [written, path] = SINGLE_BRACES.exec(text) ?? [];
  if (written === undefined) return [];
  const message = `${written} is ${fate} as it stands; write {{${path}}} for the value`;
  return [{ pointer, at: 'value', inside: text.indexOf(written), message }];
}

/** Finds an address that is not encrypted and gets a secret; a private host that the manifest allows is on the own network. */
function checkAddress(pointer: string, connection: JsonObject): Finding[] {
  const { url, allow_private: allowed, auth } = connection;
  if (typeof url !== 'string' || !url.startsWith('http://')) return [];
  const [, host = ''] = /^http:\/\/(?:[^/?#]*@)?([^/?#:]*|\[[^\]]*\])(?:[:/?#]|$)/.exec(url) ?? [];
  const isAllowed = Array.isArray(allowed) && allowed.some((name) => String(name).split(':')[0] === host);
  const hasSecret = auth !== undefined || textsIn(connection, '').some(({ text }) => text.includes('${'));
  if (!hasSecret || isAllowed || LOCAL.test(host) || /[${]/.test(host)) return [];
  const message = 'a secret would be sent unencrypted; use https://';
  return [{ pointer: `${pointer}/url`, at: 'value', inside: 0, message }];
}

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
