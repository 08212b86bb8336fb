import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { appFromManifest } from '../../../playground/slack/app-from-manifest.ts';
import { buildApp } from '../../../playground/slack/build-state.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/agent/json.ts';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../../src/tools/manifest/problem.ts';
import { manifestJsonSchema } from '../../../src/tools/manifest/schema/manifest-file.ts';
import { SHIPPED_SLACK, scopesOf } from '../../../src/tools/manifest/schema/slack.ts';
import { slackManifest } from '../../../src/tools/manifest/slack-manifest.ts';

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const text = read('manifest.yml');

function shipped(written = text, environment: Readonly<Record<string, string>> = {}) {
  const parsed = parseManifest(written, { file: 'manifest.yml', environment });
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
  return parsed;
}

function omit(section: JsonValue | undefined, key: string): JsonObject {
  const entries = Object.entries(isJsonObject(section) ? section : {});
  return Object.fromEntries(entries.filter(([each]) => each !== key));
}

const lineAt = (index: number): string[] => text.slice(0, index).split('\n');
const isComment = (index: number): boolean => lineAt(index).at(-1)?.trimStart().startsWith('#') === true;
const positionOf = (index: number): string =>
  `${lineAt(index).length}:${(lineAt(index).at(-1)?.length ?? 0) + 1}`;

describe('the shipped manifest', () => {
  test('has neither a mistake nor a warning, and needs no secret', () => {
    const { warnings, secrets } = shipped();
    expect([warnings, secrets]).toEqual([[], []]);
  });

  test.each([{ mode: 'socket' }, { mode: 'http', url: 'https://bot.example.com' }] as const)(
    "has a section that fits Slack's own schema for $mode",
    (connection) => {
      const ajv = addFormats.default(new Ajv({ strict: false, allErrors: true }));
      const validate = ajv.compile(JSON.parse(read('src/tools/manifest/slack-manifest.schema.json')));
      validate(slackManifest(shipped().manifest, connection));
      expect(validate.errors).toBeNull();
    },
  );

  test('has placeholders for every id, and names each of them with its line and column', () => {
    const ids = [...text.matchAll(/\b[USC]0REPLACEME\b/g)].filter(({ index }) => !isComment(index));
    const { placeholders } = shipped();
    expect(placeholders.map(({ line, column }) => `${line}:${column}`)).toEqual(
      ids.map(({ index }) => positionOf(index)),
    );
    expect(placeholders.map(formatProblem)).toContain(
      `manifest.yml:${positionOf(text.indexOf('U0REPLACEME'))}: agent.admins[0]: "U0REPLACEME" is a placeholder; replace it with the id of a person of your workspace`,
    );
  });

  test('shows tools of every kind that hold once their comment signs are gone', () => {
    const { manifest, secrets } = shipped(text.replaceAll(/^ {2}# (?=[ a-z_]+:| {3,}- )/gm, '  '), {
      STATUS_TOKEN: 'tok-123456',
    });
    expect(manifest.tools.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      'github_status http',
      'open_incident http',
      'refund_order module',
      'files mcp',
    ]);
    expect(secrets).toEqual(['tok-123456']);
  });
});

describe('the Slack app', () => {
  const appOf = (written: string) =>
    shipped(`policies: { default: { approvers: [S0APPROVE1] } }\n${written}`).manifest.slack;

  test('is the shipped one without a section', () => {
    expect(appOf('')).toEqual(SHIPPED_SLACK);
    expect(appOf('slack: {}')).toEqual(SHIPPED_SLACK);
  });

  test('has what a section gives in place of the same part, and everything else', () => {
    const { features, oauth_config, ...rest } = SHIPPED_SLACK;
    const scopes = { bot: ['chat:write'] };
    expect(
      appOf(
        'slack: { features: { shortcuts: , unfurl_domains: [example.com] }, oauth_config: { scopes: { bot: [chat:write] } } }',
      ),
    ).toEqual({
      ...rest,
      features: { ...omit(features, 'shortcuts'), unfurl_domains: ['example.com'] },
      oauth_config: { ...omit(oauth_config, 'scopes'), scopes },
    });
  });

  test('asks for the scopes that the rest of the manifest needs', () => {
    const allScopes = (written: string) => [...(appFromManifest(appOf(written)).scopes ?? [])].sort();
    const usual = allScopes('');
    expect(allScopes('agent: { files: false }')).toEqual(
      usual.filter((scope) => !scope.startsWith('files:')),
    );
    expect(allScopes('agent: { channels: { C012ABCDEF: { topic: true } } }')).toEqual(
      [...usual, 'channels:read'].sort(),
    );
    const owner = shipped('policies: { default: { approvers: { from: input.owner } } }').manifest.slack;
    expect([...(appFromManifest(owner).scopes ?? [])].sort()).toEqual([...usual, 'users:read.email'].sort());
  });

  test('leaves out nothing but what only an agent has where the agent view is taken away, and Slack installs it', () => {
    const written = 'slack: { features: { agent_view: } }';
    const app = appFromManifest(appOf(written));
    const whole = appFromManifest(appOf(''));
    expect(whole.scopes?.filter((scope) => app.scopes?.includes(scope) !== true)).toEqual([
      'assistant:write',
    ]);
    expect(whole.events?.filter((event) => app.events?.includes(event) !== true)).toEqual([
      'agent_session_stopped',
    ]);
    expect(buildApp(app).agent).toBe('none');
  });

  test('lets a workspace leave out the scopes without which the bot works', () => {
    expect(scopesOf(appOf('')).optional).toEqual([
      'files:read',
      'files:write',
      'reactions:write',
      'usergroups:read',
    ]);
    expect(scopesOf(appOf('slack: { oauth_config: { scopes: { bot: [chat:write] } } }'))).toEqual({
      bot: ['chat:write'],
      optional: [],
    });
  });
});

describe('editors', () => {
  test('find the schema by the first line of the manifest', () => {
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=./manifest.schema.json');
  });

  test('get the schema that the check uses; scripts/write-manifest-schema.ts writes it anew', () => {
    expect(JSON.parse(read('manifest.schema.json'))).toEqual(manifestJsonSchema());
  });

  test('can explain every key of ours', () => {
    const unexplained: string[] = [];
    const visit = (schema: JsonValue, path: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      for (const [key, entry] of Object.entries<JsonValue>({ ...schema })) {
        if (key === 'properties' && isJsonObject(entry)) {
          for (const [name, property] of Object.entries(entry)) {
            if (!isJsonObject(property) || property.description === undefined)
              unexplained.push(`${path}.${name}`);
          }
        }
        if (key !== 'definitions' && key !== 'slack') visit(entry, `${path}.${key}`);
      }
    };
    visit(manifestJsonSchema(), '');
    expect(unexplained).toEqual([]);
  });
});

test("Slack's command line is told how to get the manifest", () => {
  const { hooks } = JSON.parse(read('.slack/hooks.json'));
  expect(hooks['get-manifest']).toBe('npx countersign manifest slack --json');
});
