import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  createAppLink,
  slackManifest,
  slackManifestText,
} from '../../../src/tools/manifest/slack-manifest.ts';

const manifest = {
  slack: {
    display_information: { name: 'Tést & more' },
    features: {
      bot_user: { display_name: 'test' },
      slash_commands: [{ command: '/test', description: 'Tests.', url: 'https://old.example.com' }],
    },
    settings: {
      event_subscriptions: { request_url: 'https://old.example.com', bot_events: ['app_mention'] },
      interactivity: { is_enabled: true, message_menu_options_url: 'https://old.example.com' },
      socket_mode_enabled: false,
    },
  },
};

describe('the section for Slack', () => {
  test('has no URL where the bot opens a socket', () => {
    expect(slackManifest(manifest, { mode: 'socket' })).toEqual({
      display_information: { name: 'Tést & more' },
      features: {
        bot_user: { display_name: 'test' },
        slash_commands: [{ command: '/test', description: 'Tests.' }],
      },
      settings: {
        event_subscriptions: { bot_events: ['app_mention'] },
        interactivity: { is_enabled: true },
        socket_mode_enabled: true,
      },
    });
  });

  test.each([
    ['https://bot.example.com', 'https://bot.example.com/slack/events'],
    ['https://bot.example.com/', 'https://bot.example.com/slack/events'],
    ['https://example.com/bot/', 'https://example.com/bot/slack/events'],
    ['https://bot.example.com/slack/events', 'https://bot.example.com/slack/events'],
  ])('sends everything to %s where Slack calls the bot', (url, target) => {
    expect(slackManifest(manifest, { mode: 'http', url })).toEqual({
      display_information: { name: 'Tést & more' },
      features: {
        bot_user: { display_name: 'test' },
        slash_commands: [{ command: '/test', description: 'Tests.', url: target }],
      },
      settings: {
        event_subscriptions: { request_url: target, bot_events: ['app_mention'] },
        interactivity: { is_enabled: true, request_url: target, message_menu_options_url: target },
        socket_mode_enabled: false,
      },
    });
  });

  test.each(['http://bot.example.com', 'bot.example.com', ''])(
    'refuses "%s", which Slack would not call',
    (url) => {
      expect(() => slackManifest(manifest, { mode: 'http', url })).toThrow(/only public https URLs/);
    },
  );

  test('adds nothing to a manifest without features, and leaves the given one as it was', () => {
    const bare = { slack: { display_information: { name: 'Test' } } };
    expect(slackManifest(bare, { mode: 'socket' })).toEqual({
      display_information: { name: 'Test' },
      settings: { socket_mode_enabled: true },
    });
    expect(bare).toEqual({ slack: { display_information: { name: 'Test' } } });
  });

  test('reads the same as YAML and as JSON', () => {
    const section = slackManifest(manifest, { mode: 'socket' });
    expect(JSON.parse(slackManifestText(manifest, { mode: 'socket' }, 'json'))).toEqual(section);
    expect(parse(slackManifestText(manifest, { mode: 'socket' }, 'yaml'))).toEqual(section);
  });
});

describe('the link that creates the app', () => {
  test.each([
    ['json', (text: string): unknown => JSON.parse(text)],
    ['yaml', (text: string): unknown => parse(text)],
  ] as const)('carries the whole section as %s', (format, read) => {
    const url = new URL(createAppLink(manifest, { mode: 'socket' }, format));
    expect(url.origin + url.pathname).toBe('https://api.slack.com/apps');
    expect([...url.searchParams.keys()]).toEqual(['new_app', `manifest_${format}`]);
    expect(url.searchParams.get('new_app')).toBe('1');
    expect(read(url.searchParams.get(`manifest_${format}`) ?? '')).toEqual(
      slackManifest(manifest, { mode: 'socket' }),
    );
  });
});
