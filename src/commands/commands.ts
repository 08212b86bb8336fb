import { AUDIT_COMMANDS } from './audit/audit-commands.ts';
import { DOOR_COMMANDS } from './door/door-commands.ts';
import { MANIFEST_COMMANDS } from './manifest/manifest-commands.ts';
import { OPERATE_COMMANDS } from './operate/operate-commands.ts';
import type { ListedCommand } from './shared/command.ts';

/** All commands, in the order in which the help lists them. */
export const COMMANDS: readonly ListedCommand[] = [
  {
    name: 'init',
    summary: 'create a new bot project',
    load: async () => (await import('./init/init.ts')).init,
  },
  {
    name: 'start',
    summary: 'connect the bot to Slack',
    load: async () => (await import('./start.ts')).start,
  },
  ...MANIFEST_COMMANDS,
  {
    name: 'explain',
    summary: 'say what the rules would do with a call, and why',
    load: async () => (await import('./explain.ts')).explain,
  },
  {
    name: 'doctor',
    summary: 'check settings, manifest, Redis, Slack, model and tools',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  ...OPERATE_COMMANDS,
  ...DOOR_COMMANDS,
  ...AUDIT_COMMANDS,
];
