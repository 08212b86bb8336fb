import { z } from 'zod';
import { readManifest } from '../../src/commands/shared/load-manifest.ts';
import type { Manifest } from '../../src/tools/manifest/manifest.ts';
import { formatProblem } from '../../src/tools/manifest/problem.ts';
import { slackManifest } from '../../src/tools/manifest/slack-manifest.ts';
import { appFromManifest } from '../slack/app-from-manifest.ts';
import type { AppSeed } from '../slack/build-state.ts';

/** A valid manifest and the Slack app that it declares. */
export interface LoadedApp {
  readonly manifest: Manifest;
  readonly app: AppSeed;
}

/** Reads the manifest as the bot does; throws one error with one line per mistake. */
export async function loadApp(
  file: string,
  environment: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<LoadedApp> {
  const parsed = await readManifest(file, environment).catch((error: unknown) => {
    throw new Error(
      `The manifest cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
    );
  });
  const problems = parsed.ok ? parsed.placeholders : parsed.problems;
  if (!parsed.ok || problems.length > 0) {
    const mistakes = problems.map((problem) => `\n${formatProblem(problem)}`).join('');
    throw new Error(`The manifest has errors. Fix them and start again:${mistakes}`);
  }
  for (const warning of parsed.warnings) log(`warning: ${formatProblem(warning)}`);
  try {
    const app = appFromManifest(slackManifest(parsed.manifest, { mode: 'socket' }));
    return { manifest: parsed.manifest, app };
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`The slack section of ${file} declares no app that can be installed here:\n${why}`);
  }
}
