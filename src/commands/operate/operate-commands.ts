import type { ListedCommand } from '../shared/command.ts';

/** The commands of an operator. */
export const OPERATE_COMMANDS: readonly ListedCommand[] = [
  {
    name: 'pending',
    summary: 'list the requests that wait for people',
    load: async () => (await import('./requests.ts')).pending,
  },
  {
    name: 'show',
    summary: 'show one request',
    load: async () => (await import('./requests.ts')).show,
  },
  {
    name: 'cancel',
    summary: 'cancel a request that has not started',
    load: async () => (await import('./requests.ts')).cancel,
  },
  {
    name: 'resolve',
    summary: 'record the outcome of an action when it is unknown',
    load: async () => (await import('./requests.ts')).resolve,
  },
  {
    name: 'stats',
    summary: 'show approval rate and time per policy',
    load: async () => (await import('./stats.ts')).stats,
  },
  {
    name: 'report',
    summary: 'write how people decide as one HTML file',
    load: async () => (await import('./report.ts')).report,
  },
  {
    name: 'freeze',
    summary: 'stop new actions of one tool or all tools',
    load: async () => (await import('./freeze.ts')).freeze,
  },
  {
    name: 'unfreeze',
    summary: 'end a freeze',
    load: async () => (await import('./freeze.ts')).unfreeze,
  },
  {
    name: 'delegations',
    summary: 'list who decides for whom',
    load: async () => (await import('./freeze.ts')).delegations,
  },
  {
    name: 'erase',
    summary: "remove a person's words from threads, requests and exports",
    load: async () => (await import('./erase.ts')).erase,
  },
  {
    name: 'disconnect',
    summary: "remove a person's accounts at MCP servers",
    load: async () => (await import('./disconnect.ts')).disconnect,
  },
  {
    name: 'usage',
    summary: 'list the tokens that were spent',
    load: async () => (await import('./stats.ts')).usage,
  },
  {
    name: 'threads',
    summary: 'list the quarantined threads',
    load: async () => (await import('./freeze.ts')).threads,
  },
  {
    name: 'retry',
    summary: 'let the bot continue a quarantined thread',
    load: async () => (await import('./freeze.ts')).retry,
  },
  {
    name: 'migrate',
    summary: 'bring the record of an older release up to date',
    load: async () => (await import('./migrate.ts')).migrate,
  },
];
