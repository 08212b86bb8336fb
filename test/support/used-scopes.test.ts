import { expect, test } from 'vitest';
import { newFolder } from '../commands/support.ts';
import { expectScopes, keepUse, readUse } from './used-scopes.ts';

const story = (scopes: string[], events: string[]) => ({
  usedScopes: () => scopes,
  usedEvents: () => events,
});
const section = (bot: string[], bot_events: string[]) => ({
  oauth_config: { scopes: { bot } },
  settings: { event_subscriptions: { bot_events } },
});

test('what several stories used is taken together', () => {
  const folder = newFolder();
  keepUse(story(['users:read', 'chat:write'], ['app_mention']), folder);
  keepUse(story(['chat:write'], ['message.im']), folder);
  const use = readUse(folder);
  expect(use).toEqual({ scopes: ['chat:write', 'users:read'], events: ['app_mention', 'message.im'] });
  expectScopes(use, section(['users:read', 'chat:write'], ['message.im', 'app_mention']));
});

test('a scope or event that is missing or too many is found', () => {
  const use = { scopes: ['chat:write'], events: ['app_mention'] };
  for (const wrong of [
    section([], ['app_mention']),
    section(['chat:write', 'users:read'], ['app_mention']),
    section(['chat:write'], []),
    section(['chat:write'], ['app_mention', 'message.im']),
  ]) {
    expect(() => expectScopes(use, wrong)).toThrow(/missing|unused/);
  }
});

test('without any story there is nothing to compare, and that is not taken for a match', () => {
  expect(() => readUse(newFolder())).toThrow('No story has run');
});
