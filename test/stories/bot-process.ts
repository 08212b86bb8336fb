import { pino } from 'pino';
import { z } from 'zod';
import type { Timing } from '../../src/bot/context.ts';
import type { Settings } from '../../src/settings.ts';
import { startBot } from '../../src/start-bot.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { Secrets } from '../../src/tools/secrets.ts';

const Given = z.object({
  settings: z.custom<Settings>(),
  manifest: z.string(),
  environment: z.record(z.string(), z.string()),
  folder: z.string(),
  prefix: z.string(),
  timing: z.custom<Partial<Timing>>(),
  sweep: z.record(z.string(), z.number()),
});

// A bot as a process of its own, which a story can kill; it says when it listens.
const { settings, manifest, environment, folder, prefix, timing, sweep } = Given.parse(
  JSON.parse(process.argv[2] ?? ''),
);
const parsed = parseManifest(manifest, { file: 'story.yml', environment });
if (!parsed.ok) throw new Error('The manifest of the story does not hold');
const logger = pino({ level: 'silent' });
await startBot({
  settings,
  manifest: parsed.manifest,
  folder,
  secrets: new Secrets(),
  logger,
  prefix,
  timing,
  sweep,
});
process.stdout.write('listening\n');
