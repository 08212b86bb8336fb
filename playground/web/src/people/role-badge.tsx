import type { PersonEntity } from '../../../protocol.ts';

const LABELS: Record<PersonEntity['role'], string | undefined> = {
  member: undefined,
  admin: 'Admin',
  guest: 'Guest',
  'other-company': 'Other company',
  bot: 'App',
  deactivated: 'Deactivated',
};

/** A person's role; nothing for an ordinary member. */
export function RoleBadge({ role }: { role: PersonEntity['role'] }) {
  const label = LABELS[role];
  return label === undefined ? null : <span className="role-badge">{label}</span>;
}
