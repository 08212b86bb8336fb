import { spawn } from 'node:child_process';
import { once } from 'node:events';

// npm runs this in a dry run too, where the tools it needs are not installed.
if (process.env.npm_config_dry_run !== 'true') {
  // What is packed has the modules one by one; what is installed in a clone is the bundle.
  const isPacked = ['pack', 'publish'].includes(process.env.npm_command ?? '');
  const scripts = isPacked ? [['build', '--', '--package']] : [['build'], ['build:page']];
  const builds = scripts.map((script) =>
    spawn('npm', ['run', '-s', ...script], { stdio: 'inherit', shell: process.platform === 'win32' }),
  );
  const codes = await Promise.all(builds.map(async (build) => (await once(build, 'close'))[0]));
  process.exitCode = codes.find((code) => code !== 0) ?? 0;
}
