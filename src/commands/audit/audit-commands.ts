import type { ListedCommand } from '../shared/command.ts';

/** The commands about the audit log. */
export const AUDIT_COMMANDS: readonly ListedCommand[] = [
  {
    name: 'audit',
    summary: 'list the audit log in chronological order',
    load: async () => (await import('./audit.ts')).audit,
  },
  {
    name: 'audit verify',
    summary: 'check the audit log for tampering',
    load: async () => (await import('./audit-verify.ts')).auditVerify,
  },
  {
    name: 'audit trim',
    summary: 'remove exported rows of the audit log from Redis',
    load: async () => (await import('./audit.ts')).auditTrim,
  },
  {
    name: 'audit key',
    summary: 'make the key that signs the audit log',
    load: async () => (await import('./audit.ts')).auditKey,
  },
];
