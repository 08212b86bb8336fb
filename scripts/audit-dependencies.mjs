import { spawnSync } from 'node:child_process';

// Fails if a production package has a known advisory of severity high or critical, and lists them. A registry without advisories is
// said and passes: it proves nothing.
const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--audit-level=high', '--json'], {
  encoding: 'utf8',
  shell: process.platform === 'win32',
});
const report = JSON.parse(stdout);
if (report.statusCode !== undefined) {
  process.stdout.write(
    `Dependencies not audited: the registry answered ${report.statusCode} and has no advisories.\n`,
  );
} else {
  const found = Object.values(report.vulnerabilities).filter(({ severity }) =>
    ['high', 'critical'].includes(severity),
  );
  for (const { name, range, severity } of found) process.stdout.write(`${name} ${range}: ${severity}\n`);
  process.stdout.write(`${found.length} production packages with advisories of severity high or critical.\n`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
