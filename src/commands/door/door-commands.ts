import type { ListedCommand } from '../shared/command.ts';

/** The commands of programs that ask through the door. */
export const DOOR_COMMANDS: readonly ListedCommand[] = [
  {
    name: 'ask',
    summary: 'run a command once people have approved it',
    load: async () => (await import('./ask.ts')).ask,
  },
  {
    name: 'hook claude-code',
    summary: 'decide about a tool call of Claude Code',
    load: async () => (await import('./hook.ts')).hookClaudeCode,
  },
  {
    name: 'hook codex',
    summary: 'decide about a tool call of Codex',
    load: async () => (await import('./hook.ts')).hookCodex,
  },
  {
    name: 'caller key',
    summary: 'make the key of a caller',
    load: async () => (await import('./caller-key.ts')).callerKey,
  },
];
