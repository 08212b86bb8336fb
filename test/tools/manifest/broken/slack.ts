import type { BrokenManifest } from './broken-manifest.ts';

/** Mistakes in Slack's own section. */
export const brokenSlack: readonly BrokenManifest[] = [
  {
    says: 'an empty section',
    text: `slack:
`,
    rest: 'nothing',
    problems: ['1:1: slack: expected a mapping, but this is empty'],
  },
  {
    says: 'an app without a name',
    text: `slack:
  display_information: { name: }
`,
    rest: 'nothing',
    problems: ['2:26: slack.display_information.name: expected text, but this is empty'],
  },
  {
    says: 'a name that is too long',
    text: `slack:
  display_information: { name: A bot with a name that goes on and on and on }
`,
    rest: 'nothing',
    problems: ['2:32: slack.display_information.name: this has 44 characters; at most 35 are allowed'],
  },
  {
    says: 'a misspelt feature',
    text: `slack:
  display_information: { name: Test }
  features:
    bot_users: { display_name: test }
`,
    rest: 'nothing',
    problems: ['4:5: slack.features.bot_users: unknown key "bot_users"; did you mean "bot_user"?'],
  },
  {
    says: 'a key of ours in the section of Slack',
    text: `slack:
  display_information: { name: Test }
  policies: {}
`,
    rest: 'nothing',
    problems: [
      '3:3: slack.policies: unknown key "policies"; the keys here are $schema, _metadata, app_directory, display_information, features, oauth_config, settings, functions, workflows, datastores, outgoing_domains, types, external_auth_providers, mcp_servers',
    ],
  },
  {
    says: 'scopes that are no list',
    text: `slack:
  display_information: { name: Test }
  oauth_config:
    scopes: { bot: "chat:write" }
`,
    rest: 'nothing',
    problems: ['4:20: slack.oauth_config.scopes.bot: expected a list, but this is "chat:write"'],
  },
  {
    says: 'a command without a slash',
    text: `slack:
  display_information: { name: Test }
  features:
    slash_commands:
      - { command: countersign, description: Lists. }
`,
    rest: 'nothing',
    problems: ['5:20: slack.features.slash_commands[0].command: "countersign" is not text that fits ^\\/'],
  },
  {
    says: 'five suggested prompts',
    text: `slack:
  display_information: { name: Test }
  features:
    agent_view:
      suggested_prompts:
        - { title: a, message: a }
        - { title: b, message: b }
        - { title: c, message: c }
        - { title: d, message: d }
        - { title: e, message: e }
`,
    rest: 'nothing',
    problems: [
      '6:9: slack.features.agent_view.suggested_prompts: this list has 5 entries; at most 4 are allowed',
    ],
  },
  {
    says: 'the same event twice',
    text: `slack:
  display_information: { name: Test }
  settings:
    event_subscriptions:
      bot_events: [app_mention, message.im, app_mention]
`,
    rest: 'nothing',
    problems: [
      '5:45: slack.settings.event_subscriptions.bot_events[2]: "app_mention" appears twice in this list',
    ],
  },
  {
    says: 'socket mode in words',
    text: `slack:
  display_information: { name: Test }
  settings:
    socket_mode_enabled: "on"
`,
    rest: 'nothing',
    problems: ['4:26: slack.settings.socket_mode_enabled: expected true or false, but this is "on"'],
  },
];
