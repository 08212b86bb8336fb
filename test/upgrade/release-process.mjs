// A bot of an installed release, which a test can kill; it says at which port it listens.
const [modules = '', given = ''] = process.argv.slice(2);
const load = (path) => import(`${modules}/${path}`);
const [{ startBot }, { parseManifest }, { Secrets }] = await Promise.all([
  load('start-bot.js'),
  load('tools/manifest/parse.js'),
  load('tools/secrets.js'),
]);
const { createRequire } = await import('node:module');
const { pino } = createRequire(`${modules}/index.js`)('pino');
const { manifest, environment, ...setup } = JSON.parse(given);
const parsed = parseManifest(manifest, { file: 'upgrade.yml', environment });
if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
const logger = pino({ level: process.env.LOG_LEVEL ?? 'silent' });
const bot = await startBot({ ...setup, manifest: parsed.manifest, secrets: new Secrets(), logger });
process.stdout.write(`listening ${bot.port}\n`);
