import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { type JsonObject, pointerTo } from '../../agent/json.ts';
import { isSigned } from '../../policy/policy.ts';
import { BlockedAddressError } from '../../tools/errors.ts';
import { AllowedHosts } from '../../tools/http/guard/allowed-hosts.ts';
import { targetOf } from '../../tools/http/guard/guarded-connector.ts';
import { asksForProfiles, groupsAskedFor } from '../../tools/manifest/asked-groups.ts';
import type { Manifest, McpDeclaration, ToolDeclaration } from '../../tools/manifest/manifest.ts';
import type { Finding as LocatableFinding, ManifestProblem } from '../../tools/manifest/problem.ts';
import { scopesOf } from '../../tools/manifest/schema/slack.ts';
import { manifestFile, readManifest } from '../shared/load-manifest.ts';
import { type Finding, failed, firstLineOf, fromProblem, ok, warning } from './finding.ts';

/** Finds what can be known of a manifest on this machine alone: missing files and commands, private addresses, missing scopes. */
export function inspectManifest({
  manifest,
  folder,
}: Pick<LoadedManifest, 'manifest' | 'folder'>): PlacedProblem[] {
  return [
    ...manifest.tools.flatMap((tool) => [...inspectFiles(tool, folder), ...inspectAddress(tool)]),
    ...inspectScopes(manifest),
    ...inspectApp(manifest),
    ...inspectMentions(manifest),
    ...inspectChanges(manifest),
  ];
}

function inspectFiles(tool: ToolDeclaration, folder: string): PlacedProblem[] {
  const pointer = pointerTo('/tools', tool.name);
  if (tool.kind === 'mcp') return inspectCommand(`${pointer}/mcp`, tool, folder);
  if (tool.kind !== 'module') return [];
  if (!/^[./]/.test(tool.module)) return inspectPackage(`${pointer}/module`, tool.module, folder);
  if (existsSync(resolve(folder, tool.module))) return [];
  return [
    error(
      `${pointer}/module`,
      `there is no file ${tool.module}`,
      'create it, or correct the path; it starts at the manifest',
    ),
  ];
}

/** Finds the path of a file that is written like the name of a package. A package is looked for when it is loaded. */
function inspectPackage(pointer: string, name: string, folder: string): PlacedProblem[] {
  const isThere = existsSync(resolve(folder, name));
  if (!isThere && !/^[^@].*\.[mc]?[jt]s$/.test(name)) return [];
  const message = isThere
    ? `${name} is a file, and is looked for as a package`
    : `there is no file ./${name}, and ${name} is looked for as a package`;
  return [error(pointer, message, `write ./${name} for a file beside the manifest`)];
}

function inspectCommand(pointer: string, { config }: McpDeclaration, folder: string): PlacedProblem[] {
  if (config.transport !== 'stdio') return [];
  const cwd = resolve(folder, config.cwd ?? '.');
  if (!existsSync(cwd))
    return [error(`${pointer}/cwd`, `there is no folder ${config.cwd}`, 'create it, or correct the path')];
  const candidates = config.command.includes('/')
    ? [resolve(cwd, config.command)]
    : (process.env.PATH ?? '').split(delimiter).map((path) => join(path, config.command));
  if (candidates.some(isExecutable)) return [];
  const message = `there is no command "${config.command}" on this machine`;
  return [error(`${pointer}/command`, message, 'install it, or correct the name')];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Returns the address that a tool calls, and the pointer of its section; its host is fixed, whatever the template fills in. */
export function addressOf(tool: ToolDeclaration) {
  const pointer = pointerTo('/tools', tool.name);
  if (tool.kind === 'http') {
    const { url, allowPrivate = [] } = tool.definition;
    const address = url.replace(/\{\{.*?\}\}/g, 'x');
    return { address, allowPrivate, pointer: `${pointer}/http` };
  }
  if (tool.kind !== 'mcp' || tool.config.transport !== 'http') return undefined;
  return { address: tool.config.url, allowPrivate: tool.allowPrivate, pointer: `${pointer}/mcp` };
}

function inspectAddress(tool: ToolDeclaration): PlacedProblem[] {
  const called = addressOf(tool);
  if (called === undefined || !URL.canParse(called.address)) return [];
  const target = targetOf(new URL(called.address));
  try {
    new AllowedHosts(called.allowPrivate).checkName(target);
    return [];
  } catch (problem) {
    if (!(problem instanceof BlockedAddressError)) return [];
    return [blockedHost(`${called.pointer}/url`, target.host)];
  }
}

/** The problem of a host that the tool may not reach. */
export function blockedHost(pointer: string, host: string): PlacedProblem {
  return error(
    pointer,
    `"${host}" is a private address, so every call is refused`,
    `add "${host}" to allow_private of this tool if that's intended`,
  );
}

const Slack = z.object({
  features: z
    .object({
      app_home: z
        .object({ home_tab_enabled: z.boolean().optional(), messages_tab_enabled: z.boolean().optional() })
        .optional(),
      bot_user: z.unknown().optional(),
      slash_commands: z.array(z.object({ should_escape: z.boolean().optional() })).optional(),
      shortcuts: z.array(z.unknown()).optional(),
      agent_view: z.unknown().optional(),
    })
    .default({}),
  settings: z
    .object({
      event_subscriptions: z
        .object({ bot_events: z.array(z.string()).default([]) })
        .default({ bot_events: [] }),
      interactivity: z.object({ is_enabled: z.boolean() }).default({ is_enabled: false }),
    })
    .default({ event_subscriptions: { bot_events: [] }, interactivity: { is_enabled: false } }),
});

const EVENT_SCOPES: Readonly<Record<string, string>> = {
  app_mention: 'app_mentions:read',
  'message.channels': 'channels:history',
  'message.groups': 'groups:history',
  'message.im': 'im:history',
  'message.mpim': 'mpim:history',
};

/** Finds scopes that the bot needs for what the manifest says, and that its Slack section does not ask for. */
function inspectScopes(manifest: Manifest): PlacedProblem[] {
  const { data } = Slack.safeParse(manifest.slack);
  if (data === undefined) return [];
  const { bot } = scopesOf(manifest.slack);
  const policies = [...manifest.policies.values()];
  const groups = [
    ...policies.flatMap(({ approvers, excluded, resolvers, escalate }) => [
      ...approvers,
      ...excluded,
      ...resolvers,
      ...(escalate?.to ?? []),
    ]),
    ...manifest.agent.askers.groups,
    ...groupsAskedFor(manifest).map(({ id }) => id),
  ].filter((id) => id.startsWith('S'));
  const sendsDirectly = manifest.agent.admins.length > 0 || policies.some((policy) => policy.directMessages);
  const needed: [scope: string, why: string, isNeeded: boolean][] = [
    ['chat:write', 'to post cards and replies', true],
    ['users:read', 'to check who may approve', true],
    ['usergroups:read', `to see who is in ${groups[0]}`, groups.length > 0],
    [
      'users:read.email',
      'to find approvers by their email address',
      policies.some((policy) => policy.groups.some(({ from }) => from !== undefined)),
    ],
    [
      'users:read.email',
      'to find those who may not approve by their email address',
      policies.some(({ excludedFrom }) => excludedFrom !== undefined),
    ],
    ['users:read.email', 'for requester.email in rules', asksForProfiles(manifest, 'email')],
    ['im:write', 'to send cards and notices directly', sendsDirectly],
    ['commands', 'for the slash command', (data.features.slash_commands ?? []).length > 0],
    ['commands', 'for the shortcut', (data.features.shortcuts ?? []).length > 0],
    [
      'channels:read',
      'to read the topic of a channel',
      [...manifest.agent.channels.values()].some(({ topic }) => topic),
    ],
    ['assistant:write', 'for the agent view', data.features.agent_view !== undefined],
    ...data.settings.event_subscriptions.bot_events.map((event): [string, string, boolean] => [
      EVENT_SCOPES[event] ?? '',
      `for the event ${event}`,
      EVENT_SCOPES[event] !== undefined,
    ]),
  ];
  const missing = needed
    .filter(([scope, , isNeeded]) => isNeeded && !bot.includes(scope))
    .map(([scope, why]) =>
      error(
        '/slack/oauth_config/scopes/bot',
        `the scope ${scope} is missing; the bot needs it ${why}`,
        'add it here, update the app in Slack and install it again',
      ),
    );
  return [...missing, ...inspectFileScopes(bot, manifest.agent.files !== undefined)];
}

const UPDATE = 'add it here, and update the app in Slack';

/** Finds what the app needs for people to reach the bot: its user, buttons that work, and the events of what it offers. */
function inspectApp({ slack }: Manifest): PlacedProblem[] {
  const { data } = Slack.safeParse(slack);
  if (data === undefined) return [];
  const { features, settings } = data;
  const { app_home: home, agent_view: agentView, bot_user: user } = features;
  const events: [event: string, why: string, isNeeded: boolean][] = [
    ['app_mention', 'nobody can mention the bot', true],
    ['app_home_opened', 'its Home stays empty', home?.home_tab_enabled === true],
    [
      'message.im',
      'it gets no direct messages',
      home?.messages_tab_enabled === true || agentView !== undefined,
    ],
    ['agent_session_stopped', 'nobody can stop it in the agent view', agentView !== undefined],
  ];
  return [
    ...(user === undefined
      ? [error('/slack/features/bot_user', '"bot_user" is missing, so there is no bot', UPDATE)]
      : []),
    ...(settings.interactivity.is_enabled
      ? []
      : [
          error(
            '/slack/settings/interactivity/is_enabled',
            '"interactivity" is not enabled, so no button works',
            'set interactivity: { is_enabled: true }, and update the app in Slack',
          ),
        ]),
    ...events
      .filter(([event, , isNeeded]) => isNeeded && !settings.event_subscriptions.bot_events.includes(event))
      .map(([event, why]) =>
        error(
          '/slack/settings/event_subscriptions/bot_events',
          `the event ${event} is missing, so ${why}`,
          UPDATE,
        ),
      ),
  ];
}

/** Finds a slash command in which a mention would only be a name. */
function inspectMentions({ slack, policies }: Manifest): PlacedProblem[] {
  const commands = Slack.safeParse(slack).data?.features.slash_commands ?? [];
  const isNeeded = [...policies.values()].some(({ delegation }) => delegation === true);
  if (!isNeeded || commands.length === 0 || commands.some((each) => each.should_escape === true)) return [];
  return [
    {
      pointer: '/slack/features/slash_commands',
      severity: 'warning',
      message: "a policy allows delegation, but the slash command can't resolve mentions",
      fix: 'set should_escape: true on the command and update the app in Slack; until then people can use member IDs',
    },
  ];
}

/** Finds rules that ask for more than a change of the rules does: whoever can change them can take them out. */
function inspectChanges({ agent, policies }: Manifest): PlacedProblem[] {
  const changes = agent.policyChanges?.policy;
  if (changes === undefined) return [];
  const warn = (message: string, fix: string): PlacedProblem => ({
    pointer: '/agent/policy_changes',
    severity: 'warning',
    message,
    fix,
  });
  const all = [...policies.values()];
  const signed = isSigned(changes) ? undefined : all.find(isSigned);
  const [larger] = all.filter(({ quorum }) => quorum > changes.quorum).sort((a, b) => b.quorum - a.quorum);
  return [
    ...(signed === undefined
      ? []
      : [
          warn(
            `approvals of the policy "${signed.name}" are signed with a passkey, but a click changes the rules`,
            'set confirm: passkey here as well',
          ),
        ]),
    ...(larger === undefined
      ? []
      : [
          warn(
            `the policy "${larger.name}" needs ${larger.quorum} approvals, but a change of the rules needs ${changes.quorum}`,
            `set quorum: ${larger.quorum} here as well`,
          ),
        ]),
  ];
}

/** Finds scopes for files that are missing, or that nothing needs. The bot works without them, so these are warnings. */
function inspectFileScopes(bot: readonly string[], isOn: boolean): PlacedProblem[] {
  const scopes = [
    ['files:read', 'to read files that people attach'],
    ['files:write', 'to send files of tools'],
  ] as const;
  return scopes
    .filter(([scope]) => bot.includes(scope) !== isOn)
    .map(([scope, why]) => ({
      pointer: '/slack/oauth_config/scopes/bot',
      severity: 'warning',
      message: isOn
        ? `the scope ${scope} is missing; the bot needs it ${why}`
        : `the scope ${scope} is not needed: agent.files is false`,
      fix: isOn
        ? 'add it here, update the app in Slack and install it again; or set agent.files to false'
        : 'remove it here, and update the app in Slack',
    }));
}

function error(pointer: string, message: string, fix: string): PlacedProblem {
  return { pointer, severity: 'error', message, fix };
}

interface CheckedManifest {
  readonly findings: readonly Finding[];
  /** The manifest, if it has no mistake. */
  readonly loaded: LoadedManifest | undefined;
}

/** Reads the manifest for the checks that need it; its mistakes are findings. */
export async function checkManifest(environment: NodeJS.ProcessEnv): Promise<CheckedManifest> {
  const file = manifestFile(environment);
  try {
    const parsed = await readManifest(file, environment);
    const warnings = parsed.warnings.map((found) => fromProblem('warning', found));
    const folder = dirname(resolve(file));
    if (!parsed.ok) {
      const problems = parsed.problems.map((found) => fromProblem('failed', found));
      const { readable } = parsed;
      const others =
        readable === undefined
          ? []
          : inspectManifest({ ...readable, folder }).map((found) => toFinding('manifest', found, readable));
      return { findings: [...problems, ...others, ...warnings], loaded: undefined };
    }
    const { manifest, written, secrets, placeholders, locate } = parsed;
    const loaded = { manifest, written, secrets, locate, folder };
    const problems = [
      ...placeholders.map((found) => fromProblem('failed', found)),
      ...inspectManifest(loaded).map((found) => toFinding('manifest', found, loaded)),
    ];
    const summary = `${file}: tools: ${manifest.tools.length}, policies: ${manifest.policies.size}`;
    const passed = problems.some(({ status }) => status === 'failed') ? [] : [ok('manifest', summary)];
    return { findings: [...passed, ...problems, ...warnings], loaded };
  } catch (error) {
    return { findings: [failed('manifest', firstLineOf(error))], loaded: undefined };
  }
}

/** A manifest without mistakes, with what the further checks need of it. */
export interface LoadedManifest {
  readonly manifest: Manifest;
  /** As it is written, with `${NAME}` in place of each secret. */
  readonly written: JsonObject;
  /** The folder that the manifest's paths start from. */
  readonly folder: string;
  readonly secrets: readonly string[];
  locate(finding: LocatableFinding): ManifestProblem;
}

/** A problem at a value of the manifest, by its JSON pointer. */
export interface PlacedProblem {
  readonly pointer: string;
  /** Whether its key or its value is wrong; the value if it is left out. */
  readonly at?: 'key' | 'value';
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly fix: string;
  /** The offset in the text of the value. */
  readonly inside?: number;
}

/** Turns a problem into a finding with its line and column. */
export function toFinding(
  check: string,
  { pointer, at = 'value', severity, message, fix, inside }: PlacedProblem,
  { locate }: Pick<LoadedManifest, 'locate'>,
): Finding {
  const finding = { pointer, at, message, ...(inside !== undefined && { inside }) };
  const { message: _same, ...place } = locate(finding);
  return (severity === 'error' ? failed : warning)(check, message, { place, fix });
}
