import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { askRedis } from '../../../playground/redis/ask-redis.ts';
import { lockDataFolder } from '../../../playground/redis/lock-data-folder.ts';
import { messageOf, temporaryFolder, writeScript } from '../install/stand-ins.ts';
import { answers, bringUpForTest, privateEnv, realServer, setting } from './private-server.ts';

test('a private server answers on the loopback address only and keeps nothing on disk', async () => {
  const redis = await bringUpForTest({});
  expect(redis.source).toBe('started');
  expect(await setting(redis.url, 'bind')).toBe('127.0.0.1');
  expect(await setting(redis.url, 'save')).toBe('');
  expect(await setting(redis.url, 'appendonly')).toBe('no');
});

test('stop ends the private server and removes its temporary folder, and may be called twice', async () => {
  const redis = await bringUpForTest({});
  const folder = (await setting(redis.url, 'dir')) ?? '';
  expect(existsSync(folder)).toBe(true);
  await redis.stop();
  await redis.stop();
  expect(await answers(redis.url)).toBe(false);
  expect(existsSync(folder)).toBe(false);
});

test('a persistent server finds its data again in the folder it was given', async () => {
  const dataFolder = join(temporaryFolder(), 'nested', 'data');
  const first = await bringUpForTest({ dataFolder, persistent: true });
  expect(await setting(first.url, 'appendonly')).toBe('yes');
  expect(await setting(first.url, 'appendfsync')).toBe('everysec');
  expect(await setting(first.url, 'maxmemory-policy')).toBe('noeviction');
  await askRedis(first.url, (client) => client.set('signed', 'twice'));
  await first.stop();
  const second = await bringUpForTest({ dataFolder, persistent: true });
  expect(await askRedis(second.url, (client) => client.get('signed'))).toBe('twice');
});

test('servers started at the same time have their own port and folder', async () => {
  const all = await Promise.all([bringUpForTest({}), bringUpForTest({}), bringUpForTest({})]);
  const folders = await Promise.all(all.map((redis) => setting(redis.url, 'dir')));
  expect(new Set(all.map((redis) => redis.url)).size).toBe(3);
  expect(new Set(folders).size).toBe(3);
  await all[0]?.stop();
  expect(await Promise.all(all.map((redis) => answers(redis.url)))).toEqual([false, true, true]);
});

test('a data folder in use is not given to a second server', async () => {
  const dataFolder = realpathSync(temporaryFolder());
  const first = await bringUpForTest({ dataFolder, persistent: true });
  const message = await messageOf(lockDataFolder(dataFolder, 'redis://127.0.0.1:1', 0));
  expect(message).toMatch(/^The data folder .*; stop that one or choose another folder\.$/);
  expect(message).toContain(`is in use by the Redis server at ${first.url}`);
});

test('a data folder is waited for while its last server is still stopping', async () => {
  const dataFolder = temporaryFolder();
  const first = await bringUpForTest({ dataFolder, persistent: true });
  const stopping = first.stop();
  const second = await bringUpForTest({ dataFolder, persistent: true });
  await stopping;
  expect(await answers(second.url)).toBe(true);
});

test('a lock left behind by a process that is gone is taken over', async () => {
  const dataFolder = temporaryFolder();
  const beyondEveryProcessId = 99_999_999;
  writeFileSync(join(dataFolder, 'server.lock'), `${beyondEveryProcessId} redis://127.0.0.1:1`);
  const redis = await bringUpForTest({ dataFolder });
  expect(await answers(redis.url)).toBe(true);
});

test('a lock whose process number now belongs to another program is taken over', async () => {
  const dataFolder = temporaryFolder();
  const lockFile = join(dataFolder, 'server.lock');
  writeFileSync(lockFile, `${process.pid} redis://127.0.0.1:1`);
  expect(await lockDataFolder(dataFolder, 'redis://127.0.0.1:2', 0)).toBe(lockFile);
  expect(readFileSync(lockFile, 'utf8')).toBe(`${process.pid} redis://127.0.0.1:2`);
});

test('a port taken by another Redis between finding and starting is given up for another one', async () => {
  const folder = temporaryFolder();
  const server = await realServer();
  const squatterFile = join(folder, 'squatter.pid');
  writeScript(
    folder,
    'redis-server',
    `if [ ! -e '${squatterFile}' ]; then
      '${server}' --port "$2" --dir '${folder}' --save '' --pidfile '${squatterFile}' --daemonize yes
      /bin/sleep 1
    fi
    exec '${server}' "$@"`,
  );
  onTestFinished(() => {
    process.kill(Number(readFileSync(squatterFile, 'utf8')), 'SIGKILL');
  });
  const redis = await bringUpForTest({ env: { ...privateEnv(), PATH: folder } });
  expect(existsSync(squatterFile)).toBe(true);
  expect(await setting(redis.url, 'dir')).not.toBe(realpathSync(folder));
});

test('a server that exits immediately is an error with the last lines of its log', async () => {
  const folder = temporaryFolder();
  writeScript(folder, 'redis-server', `exec '${await realServer()}' "$@" --no-such-setting yes`);
  const message = await messageOf(bringUpForTest({ env: { ...privateEnv(), PATH: folder } }));
  expect(message).toContain(`${join(folder, 'redis-server')} exited immediately`);
  expect(message).toContain('no-such-setting');
});

test('a server that cannot even be run is an error with the reason', async () => {
  const folder = temporaryFolder();
  writeScript(folder, 'redis-server', '');
  writeFileSync(join(folder, 'redis-server'), '#!/no/such/interpreter\n');
  const message = await messageOf(bringUpForTest({ env: { ...privateEnv(), PATH: folder } }));
  expect(message).toMatch(/exited immediately.*ENOENT/s);
});
