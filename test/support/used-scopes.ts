import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/agent/json.ts';

const Use = z.object({ scopes: z.array(z.string()), events: z.array(z.string()) });
/** The scopes and events that an app used. */
export type Use = Readonly<z.infer<typeof Use>>;

const Listed = z.object({
  oauth_config: z.object({
    scopes: z.object({ bot: z.array(z.string()), bot_optional: z.array(z.string()).default([]) }),
  }),
  settings: z.object({ event_subscriptions: z.object({ bot_events: z.array(z.string()) }) }),
});

/** The workspace's view of it; the playground's `Workspace` fits. */
export interface UseSource {
  usedScopes(): readonly string[];
  usedEvents(): readonly string[];
}

/** Writes down what one story made use of, in a file of its own: stories run side by side in several processes. */
export function keepUse(workspace: UseSource, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const use = { scopes: workspace.usedScopes(), events: workspace.usedEvents() };
  writeFileSync(join(folder, `${randomUUID()}.json`), JSON.stringify(use));
}

/** All that the stories which wrote into a folder made use of together; without any there is nothing to compare. */
export function readUse(folder: string): Use {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  if (files.length === 0) throw new Error('No story has run: what they use is known only after a whole run.');
  const uses = files.map((name) => Use.parse(JSON.parse(readFileSync(join(folder, name), 'utf8'))));
  return {
    scopes: distinct(uses.flatMap(({ scopes }) => scopes)),
    events: distinct(uses.flatMap(({ events }) => events)),
  };
}

/** Holds the scopes and events of a manifest's section `slack` against what was used: none may be missing, and none too many. */
export function expectScopes(use: Use, slack: JsonObject): void {
  const { oauth_config, settings } = Listed.parse(slack);
  const found = {
    scopes: compare([...oauth_config.scopes.bot, ...oauth_config.scopes.bot_optional], use.scopes),
    events: compare(settings.event_subscriptions.bot_events, use.events),
  };
  const none = { missing: [], unused: [] };
  expect(found).toEqual({ scopes: none, events: none });
}

function compare(listed: readonly string[], used: readonly string[]) {
  return {
    missing: used.filter((name) => !listed.includes(name)),
    unused: listed.filter((name) => !used.includes(name)),
  };
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}
