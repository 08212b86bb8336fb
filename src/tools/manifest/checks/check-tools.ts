import { Ajv2020 } from 'ajv/dist/2020.js';
import { DefinitionError } from '../../../agent/errors.ts';
import { isJsonObject, type JsonObject, pointerTo, toJson } from '../../../agent/json.ts';
import { compileSchema } from '../../../agent/schema/compile-schema.ts';
import { DEFAULT_POLICY_NAME } from '../../../policy/policy.ts';
import { httpProblems } from '../../http/http-definition.ts';
import { isPath } from '../http-defaults.ts';
import { MAX_TOOLS } from '../manifest.ts';
import { didYouMean, type Finding, nearestWord } from '../problem.ts';
import { BUILT_IN_NAMES } from '../schema/agent.ts';
import { ANSWERERS } from '../schema/policies.ts';
import { HttpFile } from '../schema/tools.ts';
import { checkRules, listRules, type RuleFindings } from './check-rules.ts';
import { outdentedKey } from './check-shape.ts';
import { checkTexts } from './check-texts.ts';

const KINDS = ['module', 'code', 'mcp', 'http'];
const BUILT_INS: readonly string[] = BUILT_IN_NAMES;
const NO_INPUT: JsonObject = { type: 'object', properties: {} };

/** Finds mistakes between the values of a tool; rules that can never apply are warnings. */
export function checkTools(manifest: JsonObject): RuleFindings {
  const policies = isJsonObject(manifest.policies) ? Object.keys(manifest.policies) : [];
  const tools = isJsonObject(manifest.tools) ? manifest.tools : {};
  const checked = Object.entries(tools).map(([name, tool]) => {
    const pointer = pointerTo('/tools', name);
    if (!isJsonObject(tool)) return { findings: [], warnings: [] };
    const { findings, warnings } = checkRules(pointer, tool, name, policies);
    return {
      findings: [
        ...checkTool(pointer, name, tool),
        ...checkAnswers(pointer, tool, policies),
        ...checkTexts(pointer, name, tool, tools),
        ...findings,
      ],
      warnings,
    };
  });
  return {
    findings: [...checked.flatMap(({ findings }) => findings), ...checkToolCount(manifest)],
    warnings: checked.flatMap(({ warnings }) => warnings),
  };
}

function checkTool(pointer: string, name: string, tool: JsonObject): Finding[] {
  if (outdentedKey(pointer, tool) !== undefined) return [];
  const findings: Finding[] = [];
  const report = (key: string, message: string): void => {
    findings.push({ pointer: `${pointer}${key}`, at: 'key', message });
  };
  if (BUILT_INS.includes(name)) report('', `"${name}" is the name of a built-in; give this tool another`);
  const [first, second] = Object.keys(tool).filter((key) => KINDS.includes(key));
  const isMisspelt = Object.keys(tool).some((key) => nearestWord(key, KINDS) !== undefined);
  if (first === undefined && !isMisspelt) report('', 'a tool needs one of module, code, mcp and http');
  if (second !== undefined)
    report(`/${second}`, `a tool is one of module, code, mcp and http; this one has ${first} as well`);
  if (isJsonObject(tool.mcp)) findings.push(...checkServer(`${pointer}/mcp`, tool.mcp));
  if (tool.http !== undefined) findings.push(...checkHttp(pointer, name, tool));
  else {
    for (const key of ['description', 'input']) {
      if (tool[key] !== undefined)
        report(`/${key}`, `"${key}" is only for http; a tool from code or a server brings its own`);
    }
  }
  const kind = ['http', 'mcp'].find((each) => tool[each] !== undefined);
  if (tool.timeout !== undefined && kind !== undefined)
    report('/timeout', `"timeout" here is for a module; write it below "${kind}"`);
  const isTriedAgain = typeof tool.max_attempts === 'number' && tool.max_attempts > 1;
  const runsOnce =
    tool.effect === 'once' ||
    (tool.effect === undefined && isJsonObject(tool.http) && tool.http.method !== 'GET');
  if (isTriedAgain && runsOnce) {
    report(
      '/max_attempts',
      'only an idempotent action is tried again; add "effect: idempotent" if it is one',
    );
  }
  return findings;
}

const ANSWERS_ELSEWHERE = {
  mcp: '"answers" here is for a module; a server asks who requested the call, and "answers" below "mcp" says whether approvers see it first',
  http: '"answers" is for a module; an HTTP call asks nobody, so name who decides in "approval"',
};

/** Finds answers that nobody could give: of a policy that there is not, or of a tool that never asks. */
function checkAnswers(pointer: string, tool: JsonObject, policies: readonly string[]): Finding[] {
  const { answers } = tool;
  if (typeof answers !== 'string') return [];
  const report = (at: Finding['at'], message: string): Finding[] => [
    { pointer: `${pointer}/answers`, at, message },
  ];
  if (tool.mcp !== undefined) return report('key', ANSWERS_ELSEWHERE.mcp);
  if (tool.http !== undefined) return report('key', ANSWERS_ELSEWHERE.http);
  const names = [...ANSWERERS, ...policies];
  if (!names.includes(answers)) {
    const known = `; name ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
    return report('value', `there is no policy "${answers}"${didYouMean(answers, names) || known}`);
  }
  const isNamed = listRules('', tool.approval).some(
    ({ value }) => isJsonObject(value) && value.policy !== undefined,
  );
  if (answers !== 'approvers' || isNamed || policies.includes(DEFAULT_POLICY_NAME)) return [];
  return report(
    'value',
    'the rules of the tool name no policy, and there is no policy "default"; add it, or name one here',
  );
}

function checkServer(pointer: string, server: JsonObject): Finding[] {
  const { command, url } = server;
  if (command === undefined && url === undefined) {
    return [{ pointer, at: 'key', message: 'a server needs a command to start it or a url to reach it' }];
  }
  if (command !== undefined && url !== undefined) {
    return [{ pointer: `${pointer}/url`, at: 'key', message: 'a server has a command or a url, not both' }];
  }
  const [other, foreign] =
    url === undefined ? ['url', ['headers', 'auth', 'allow_private']] : ['command', ['args', 'env', 'cwd']];
  const misplaced = foreign
    .filter((key) => server[key] !== undefined)
    .map(
      (key): Finding => ({
        pointer: `${pointer}/${key}`,
        at: 'key',
        message: `"${key}" is only for a server with a ${other}`,
      }),
    );
  return url === undefined ? misplaced : [...misplaced, ...checkAuth(pointer, server)];
}

const CLIENT_KEYS = ['client_id', 'client_secret', 'private_key', 'algorithm', 'issuer', 'scope'];

/** Finds mistakes between the values of a server's `auth`. */
function checkAuth(pointer: string, server: JsonObject): Finding[] {
  const { auth, headers } = server;
  if (!isJsonObject(auth)) return [];
  const findings: Finding[] = [];
  const report = (key: string, message: string): void => {
    findings.push({ pointer: `${pointer}/auth${key}`, at: 'key', message });
  };
  const isHeaderSet =
    isJsonObject(headers) && Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  if (isHeaderSet) report('', 'a server has an Authorization header or "auth", not both');
  const { token, client_id: id, client_secret: secret, private_key: key, algorithm, issuer } = auth;
  if (token !== undefined) {
    if (auth.as === 'requester')
      report('/token', 'a token is only for the bot; people connect their own accounts');
    for (const other of CLIENT_KEYS.filter((name) => auth[name] !== undefined))
      report(`/${other}`, `"${other}" can't be combined with "token"; remove one of them`);
    return findings;
  }
  const hasCredential = secret !== undefined || key !== undefined;
  if (secret !== undefined && key !== undefined)
    report('/private_key', 'a client has a client_secret or a private_key, not both');
  if (algorithm !== undefined && key === undefined)
    report('/algorithm', '"algorithm" is only for a private_key');
  if (hasCredential && id === undefined) report('', 'a client_secret or private_key needs a client_id');
  if (id !== undefined && issuer === undefined)
    report('', 'a client_id needs the issuer that knows it, so that no other server gets its credentials');
  if (auth.as === 'bot' && !hasCredential)
    report('', '"as: bot" needs a token, or a client_id with a client_secret or a private_key');
  return findings;
}

function checkHttp(pointer: string, name: string, tool: JsonObject): Finding[] {
  const findings: Finding[] = [];
  if (tool.description === undefined) {
    findings.push({
      pointer,
      at: 'key',
      message: '"description" is missing: the model must know what the call does',
    });
  }
  const input = isJsonObject(tool.input) ? tool.input : undefined;
  const inputFindings = input === undefined ? [] : checkInputSchema(`${pointer}/input`, input, name);
  const written = HttpFile.safeParse(tool.http);
  const isReadable = inputFindings.length === 0 && (tool.input === undefined || input !== undefined);
  if (!written.success || !isReadable) return [...findings, ...inputFindings];
  const { method, url, headers = {}, query = {}, body, auth } = written.data;
  if (isPath(url)) {
    const message = 'a path needs the address that it starts from; add http_defaults with a base_url';
    return [...findings, { pointer: `${pointer}/http/url`, at: 'value', message }];
  }
  if (auth !== undefined && Object.keys(headers).some((header) => header.toLowerCase() === 'authorization'))
    findings.push({
      pointer: `${pointer}/http/auth`,
      at: 'key',
      message: 'a tool has an Authorization header or "auth", not both',
    });
  const template = { method, url, headers, query, ...(body !== undefined && { body: toJson(body) }) };
  return [
    ...findings,
    ...httpProblems(template, input ?? NO_INPUT, { idempotent: tool.effect === 'idempotent' }).map(
      ({ at, message }): Finding => ({
        pointer: at.reduce<string>(pointerTo, `${pointer}/http`),
        at: 'value',
        message,
      }),
    ),
  ];
}

/** Reports the first tool over the limit of a model. The tools of a server are not counted: they are not known yet. */
function checkToolCount({ agent, tools }: JsonObject): Finding[] {
  const { built_ins: written, plans }: JsonObject = isJsonObject(agent) ? agent : {};
  const builtIns = Array.isArray(written) ? written : BUILT_IN_NAMES;
  const room = MAX_TOOLS - builtIns.length - (plans === false ? 0 : 1);
  const everywhere = Object.entries(isJsonObject(tools) ? tools : {}).filter(
    ([, tool]) => isJsonObject(tool) && tool.mcp === undefined && tool.allow === undefined,
  );
  const tooMany = everywhere[room]?.[0];
  if (tooMany === undefined) return [];
  const message = `a model takes at most ${MAX_TOOLS} tools at once, built-ins among them, and this is one too many of ${everywhere.length}; remove some, or limit with "allow" where they are used`;
  return [{ pointer: pointerTo('/tools', tooMany), at: 'key', message }];
}

let metaSchema: Ajv2020 | undefined;

/** Checks a tool's input schema; a mistake is reported at its keyword if that is known. */
function checkInputSchema(pointer: string, schema: JsonObject, tool: string): Finding[] {
  metaSchema ??= new Ajv2020({ strict: false, allErrors: true, logger: false });
  if (schema.$schema === undefined && metaSchema.validateSchema(schema) !== true) {
    const deepest = [...(metaSchema.errors ?? [])].sort(
      (a, b) => b.instancePath.length - a.instancePath.length,
    )[0];
    const reason = deepest?.message ?? 'it does not fit';
    const allowed: unknown = deepest?.params.allowedValues;
    const message = `this is not a valid JSON Schema: ${reason}${Array.isArray(allowed) ? ` (${allowed.join(', ')})` : ''}`;
    return [{ pointer: `${pointer}${deepest?.instancePath ?? ''}`, at: 'value', message }];
  }
  try {
    compileSchema(schema, tool, 'input');
  } catch (error) {
    const cause = error instanceof DefinitionError ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    return [{ pointer, at: 'value', message: `this JSON Schema cannot be used: ${reason}` }];
  }
  if (schema.type === 'object') return [];
  return [
    {
      pointer,
      at: 'value',
      message: 'the input of a tool is an object; write "type: object" and its properties',
    },
  ];
}
