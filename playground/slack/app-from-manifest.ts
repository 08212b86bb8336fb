import { z } from 'zod';
import type { AppSeed } from './build-state.ts';
import { isSubscription } from './web-api/scopes.ts';

const prompts = z.array(z.object({ title: z.string(), message: z.string() }));

const manifestSchema = z.looseObject({
  display_information: z.looseObject({ name: z.string() }),
  features: z
    .looseObject({
      app_home: z.looseObject({ home_tab_enabled: z.boolean().optional() }).optional(),
      agent_view: z.looseObject({ suggested_prompts: prompts.optional() }).optional(),
      assistant_view: z.looseObject({}).optional(),
      shortcuts: z
        .array(z.looseObject({ type: z.enum(['message', 'global']), callback_id: z.string() }))
        .optional(),
      slash_commands: z
        .array(z.looseObject({ command: z.string(), should_escape: z.boolean().optional() }))
        .optional(),
    })
    .optional(),
  oauth_config: z.looseObject({
    scopes: z
      .looseObject({ bot: z.array(z.string()).optional(), bot_optional: z.array(z.string()).optional() })
      .optional(),
  }),
  settings: z
    .looseObject({
      event_subscriptions: z
        .looseObject({ request_url: z.string().optional(), bot_events: z.array(z.string()).optional() })
        .optional(),
      socket_mode_enabled: z.boolean().optional(),
    })
    .optional(),
});

/** The app that Slack would make of an app manifest; refuses one that names events this workspace cannot send. */
export function appFromManifest(manifest: unknown): AppSeed {
  const { display_information, features, oauth_config, settings } = manifestSchema.parse(manifest);
  const names = settings?.event_subscriptions?.bot_events ?? [];
  const unknown = names.filter((name) => !isSubscription(name));
  if (unknown.length > 0)
    throw new Error(`The manifest subscribes to ${unknown.join(', ')}, which this workspace never sends.`);
  const requestUrl = settings?.event_subscriptions?.request_url;
  return {
    name: display_information.name,
    scopes: [...(oauth_config.scopes?.bot ?? []), ...(oauth_config.scopes?.bot_optional ?? [])],
    events: names.filter(isSubscription),
    shortcuts: (features?.shortcuts ?? []).flatMap(({ type, callback_id }) =>
      type === 'message' ? [callback_id] : [],
    ),
    commands: (features?.slash_commands ?? []).map(({ command }) => command),
    escapedCommands: (features?.slash_commands ?? []).flatMap(({ command, should_escape }) =>
      should_escape === true ? [command] : [],
    ),
    agent: agentOf(features),
    homeTab: features?.app_home?.home_tab_enabled ?? false,
    suggestedPrompts: features?.agent_view?.suggested_prompts ?? [],
    socketMode: settings?.socket_mode_enabled ?? false,
    ...(requestUrl !== undefined && { requestUrl }),
  };
}

function agentOf(features: z.infer<typeof manifestSchema>['features']): NonNullable<AppSeed['agent']> {
  if (features?.agent_view !== undefined) return 'agent_view';
  return features?.assistant_view === undefined ? 'none' : 'assistant_view';
}
