import { isJsonObject, type JsonObject, type JsonValue, toJson } from '../../../agent/json.ts';
import slackSchema from '../slack-manifest.schema.json' with { type: 'json' };

const BOT_SCOPES: readonly string[] = [
  'app_mentions:read',
  'assistant:write',
  'channels:history',
  'chat:write',
  'commands',
  'files:read',
  'files:write',
  'groups:history',
  'im:history',
  'im:write',
  'mpim:history',
  'reactions:write',
  'usergroups:read',
  'users:read',
];

/** The Slack app that the bot needs. The section `slack` of a manifest changes parts of it. */
export const SHIPPED_SLACK: JsonObject = {
  display_information: {
    name: 'Countersign',
    description: 'Does real work, and asks the right people to approve what is risky.',
    background_color: '#1d3557',
  },
  features: {
    app_home: {
      home_tab_enabled: true,
      messages_tab_enabled: true,
      messages_tab_read_only_enabled: false,
    },
    bot_user: {
      display_name: 'countersign',
      always_online: true,
    },
    agent_view: {
      agent_description: 'Does what you ask with its tools, and has every risky step approved first.',
      suggested_prompts: [
        {
          title: 'What can you do?',
          message: 'What can you do here, and which of it needs approval?',
        },
      ],
    },
    shortcuts: [
      {
        name: 'Ask about this',
        type: 'message',
        callback_id: 'ask_about_message',
        description: 'Ask the bot to do something with this message',
      },
    ],
    slash_commands: [
      {
        command: '/countersign',
        description: 'Your approvals, your requests and recent decisions',
        usage_hint: '[ask … | waiting | asked | decided | delegate … | delegations | grants]',
        should_escape: true,
      },
    ],
  },
  oauth_config: {
    scopes: {
      bot: BOT_SCOPES,
    },
  },
  settings: {
    event_subscriptions: {
      bot_events: [
        'agent_session_stopped',
        'app_home_opened',
        'app_mention',
        'message.channels',
        'message.groups',
        'message.im',
        'message.mpim',
      ],
    },
    interactivity: {
      is_enabled: true,
    },
    org_deploy_enabled: false,
    socket_mode_enabled: true,
    token_rotation_enabled: false,
  },
};

/** The scopes that the app needs only for some manifests, or not for all. */
export interface ScopeUse {
  readonly readsFiles: boolean;
  readonly findsByEmail: boolean;
  readonly readsTopics: boolean;
  /** Whether people sign in to the page with Slack. */
  readonly signsIn?: boolean;
}

/**
 * Lays a section over the shipped one: mappings are merged key by key, an empty key takes a part away, and any other value replaces
 * the shipped one. Unless it lists scopes, the app asks for those that the rest of the manifest needs.
 */
export function withShippedSlack(given: Readonly<Record<string, unknown>>, use: ScopeUse): JsonObject {
  const shipped = mergeOver(SHIPPED_SLACK, {
    oauth_config: { scopes: { bot: scopesFor(use), ...(use.signsIn === true && { user: ['openid'] }) } },
  });
  const section = toJson(given);
  return isJsonObject(section) ? mergeOver(shipped, section) : shipped;
}

function scopesFor({ readsFiles, findsByEmail, readsTopics }: ScopeUse): readonly string[] {
  const added = [...(findsByEmail ? ['users:read.email'] : []), ...(readsTopics ? ['channels:read'] : [])];
  return [...BOT_SCOPES.filter((scope) => readsFiles || !scope.startsWith('files:')), ...added];
}

function mergeOver(shipped: JsonObject, given: JsonObject): JsonObject {
  const merged = Object.entries(given).map(([key, value]): [string, JsonValue] => {
    const own = shipped[key];
    return [key, isJsonObject(own) && isJsonObject(value) ? mergeOver(own, value) : value];
  });
  const all = Object.entries({ ...shipped, ...Object.fromEntries(merged) });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

const DESCRIPTION =
  'Changes of the shipped Slack app, in the form of Slack\'s app manifest: "countersign manifest slack" prints the whole.';

/** Returns Slack's schema for the section of a manifest: what the shipped section has need not be given, and may be empty. */
export function slackSectionSchema(): { readonly section: JsonObject; readonly definitions: JsonObject } {
  const { definitions, $schema: _dialect, ...section } = slackSchema;
  const shared = new Map(Object.entries(definitions).map(([name, schema]) => [name, toJson(schema)]));
  const relax = (schema: JsonValue | undefined, shipped: JsonObject): JsonObject => {
    if (!isJsonObject(schema)) return {};
    const name = String(schema.$ref ?? '').replace('#/definitions/', '');
    if (name !== '') {
      shared.set(name, relax(shared.get(name), shipped));
      return schema;
    }
    const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
    const properties = Object.entries(isJsonObject(schema.properties) ? schema.properties : {}).map(
      ([key, property]): [string, JsonValue] => {
        const value = shipped[key];
        const inner = isJsonObject(value) ? relax(property, value) : property;
        const mayBeEmpty = typeof value === 'object' && !required.includes(key);
        return [key, mayBeEmpty ? { if: { type: 'null' }, else: inner } : inner];
      },
    );
    return {
      ...schema,
      required: required.filter((key) => shipped[key] === undefined),
      properties: Object.fromEntries(properties),
    };
  };
  const relaxed = relax(toJson(section), SHIPPED_SLACK);
  return { section: { ...relaxed, description: DESCRIPTION }, definitions: Object.fromEntries(shared) };
}
