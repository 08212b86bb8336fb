import type { ListedCommand } from '../shared/command.ts';

/** The commands about the manifest. */
export const MANIFEST_COMMANDS: readonly ListedCommand[] = [
  {
    name: 'manifest check',
    summary: 'find every mistake in the manifest',
    load: async () => (await import('./manifest-check.ts')).manifestCheck,
  },
  {
    name: 'manifest slack',
    summary: "print Slack's app manifest",
    load: async () => (await import('./manifest-slack.ts')).manifestSlack,
  },
  {
    name: 'manifest link',
    summary: 'print the link that creates the app in Slack',
    load: async () => (await import('./manifest-slack.ts')).manifestLink,
  },
  {
    name: 'manifest push',
    summary: "create or update the app through Slack's API",
    load: async () => (await import('./manifest-slack.ts')).manifestPush,
  },
  {
    name: 'manifest lock',
    summary: 'accept the definitions of all MCP tools as they are now',
    load: async () => (await import('./manifest-lock.ts')).manifestLock,
  },
  {
    name: 'manifest test',
    summary: 'run test cases against the approval rules',
    load: async () => (await import('./manifest-test.ts')).manifestTest,
  },
  {
    name: 'manifest replay',
    summary: 'replay logged calls against another manifest',
    load: async () => (await import('./manifest-replay.ts')).manifestReplay,
  },
  {
    name: 'manifest adopt',
    summary: 'replace an unreadable recorded manifest with the current file',
    load: async () => (await import('./manifest-adopt.ts')).manifestAdopt,
  },
];
