import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue, toJson } from '../../../agent/json.ts';
import slackSchema from '../slack-manifest.schema.json' with { type: 'json' };

const BOT_SCOPES: readonly string[] = [
  'app_mentions:read',
  'assistant:write',
  'channels:history',
  'chat:write',
  'commands',
  'groups:history',
  'im:history',
  'im:write',
  'mpim:history',
  'users:read',
];

/** The scopes without which the bot works: nobody attaches files, no message is marked as waiting, no user group is read. */
const OPTIONAL_SCOPES: readonly string[] = [
  'files:read',
  'files:write',
  'reactions:write',
  'usergroups:read',
];
/** The parts of the app that only an agent has. */
const AGENT_SCOPE = 'assistant:write';
const AGENT_EVENT = 'agent_session_stopped';

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
      bot_optional: OPTIONAL_SCOPES,
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
  readonly readsEmails: boolean;
  readonly readsTopics: boolean;
  /** Whether people sign in to the page with Slack. */
  readonly signsIn?: boolean;
}

/**
 * Lays a section over the shipped one: mappings are merged key by key, an empty key takes a part away, and any other value replaces
 * the shipped one. Unless it lists scopes, the app asks for those that the rest of the manifest needs. Without the agent view, which needs
 * a paid plan, the app is no agent at all.
 */
export function withShippedSlack(given: Readonly<Record<string, unknown>>, use: ScopeUse): JsonObject {
  const section = toJson(given);
  const written = isJsonObject(section) ? section : {};
  const { features, oauth_config: oauth } = Parts.parse(written);
  const isAgent = features?.agent_view !== null;
  const shipped = mergeOver(isAgent ? SHIPPED_SLACK : withoutAgent(SHIPPED_SLACK), {
    oauth_config: {
      scopes: {
        ...scopesFor(use, isAgent),
        // Who lists the scopes lists all.
        ...(oauth?.scopes?.bot !== undefined && { bot_optional: null }),
        ...(use.signsIn === true && { user: ['openid'] }),
      },
    },
  });
  return mergeOver(shipped, written);
}

const Parts = z.object({
  features: z.object({ agent_view: z.unknown() }).nullish().catch(undefined),
  oauth_config: z
    .object({ scopes: z.object({ bot: z.unknown() }).nullish() })
    .nullish()
    .catch(undefined),
});

/** The section of a workspace without a paid plan. */
export const NO_AGENT = { features: { agent_view: null } };

function withoutAgent(shipped: JsonObject): JsonObject {
  const events = Events.parse(shipped).settings.event_subscriptions.bot_events;
  const kept = events.filter((event) => event !== AGENT_EVENT);
  return mergeOver(shipped, { settings: { event_subscriptions: { bot_events: kept } } });
}

const Events = z.object({
  settings: z.object({ event_subscriptions: z.object({ bot_events: z.array(z.string()) }) }),
});

const Asked = z.object({
  oauth_config: z.object({
    scopes: z.object({ bot: z.array(z.string()).default([]), bot_optional: z.array(z.string()).default([]) }),
  }),
});

/** Lists the scopes that a Slack app asks for, and those of them that a workspace may leave out. */
export function scopesOf(slack: JsonObject): {
  readonly bot: readonly string[];
  readonly optional: readonly string[];
} {
  const { bot = [], bot_optional: optional = [] } = Asked.safeParse(slack).data?.oauth_config.scopes ?? {};
  return { bot: [...bot, ...optional], optional };
}

function scopesFor({ readsFiles, readsEmails, readsTopics }: ScopeUse, isAgent: boolean) {
  const added = [...(readsEmails ? ['users:read.email'] : []), ...(readsTopics ? ['channels:read'] : [])];
  return {
    bot: [...BOT_SCOPES.filter((scope) => isAgent || scope !== AGENT_SCOPE), ...added],
    bot_optional: OPTIONAL_SCOPES.filter((scope) => readsFiles || !scope.startsWith('files:')),
  };
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
