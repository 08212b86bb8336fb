import type { PersonEntity } from '../../../protocol.ts';

const LABELS: Record<PersonEntity['role'], string | undefined> = {
  member: undefined,
  admin: 'Admin',
  guest: 'Guest',
  'other-company': 'Other company',
  bot: 'App',
  deactivated: 'Deactivated',
};

/** A person's role in small type; for an ordinary member the job, if there is one to name. */
export function RoleBadge({ person: { role, title } }: { person: Pick<PersonEntity, 'role' | 'title'> }) {
  const label = LABELS[role];
  if (label !== undefined) return <span className="role-badge">{label}</span>;
  return title === '' ? null : <span className="person-title">{title}</span>;
}
