import { expect, test } from 'vitest';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';

const warningsOf = (policy: string, delegation: string) => {
  const text = `agent: { time_zone: Europe/Berlin }
policies:
  default: { approvers: [U012ABCDEF], ${policy} }
  other: { approvers: [U012ABCDEF], delegation: true }
tools:
  read: { module: ./read.ts, approval: default }
  write: { module: ./write.ts, approval: other }
page: { client_id: "1.2", client_secret: "\${SECRET}" }
delegations: [{ from: U012ABCDEF, to: U034GHIJKL, ${delegation} }]
`;
  const parsed = parseManifest(text, { file: 'manifest.yml', environment: { SECRET: 's'.repeat(40) } });
  return parsed.warnings.map(({ message }) => message);
};

test('a delegation does not count where passkeys approve, and check says for which policies', () => {
  const signed = 'confirm: { high: passkey }, delegation: true';
  expect(warningsOf(signed, 'until: "2099-01-01"')).toEqual([
    'it does not count for what is signed with a passkey under "default": a delegation there is signed as well, with /countersign delegate',
  ]);
  expect(warningsOf(signed, 'until: "2099-01-01", policies: [other]')).toEqual([]);
});

test('one that is over is named; one until a date lasts to the end of that day', () => {
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin' }).format(new Date());
  expect(warningsOf('delegation: true', `until: "${today}"`)).toEqual([]);
  expect(warningsOf('delegation: true', 'until: "2020-02-01 18:00"')).toEqual([
    'this delegation is over; remove it',
  ]);
});
