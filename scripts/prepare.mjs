import { execSync } from 'node:child_process';

// npm runs this in a dry run too, where the tools it needs are not installed.
if (process.env.npm_config_dry_run !== 'true') {
  for (const script of ['build', 'build:page']) {
    execSync(`npm run -s ${script}`, { stdio: 'inherit' });
  }
}
