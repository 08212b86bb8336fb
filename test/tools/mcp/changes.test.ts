import { expect, test } from 'vitest';
import { call, eventually, moodyServer, open } from './support.ts';

const all = ['greet', 'learn', 'refine', 'repeat', 'hang', 'tick', 'fail', 'refuse', 'die'];

test('all pages of the list are read', async () => {
  const { server, changes } = await open(moodyServer().config);
  expect(server.describe().tools).toEqual(all);
  expect(changes).toEqual([server.tools()]);
});

test('a new tool reaches onChange and can be called', async () => {
  const { server, changes } = await open(moodyServer({ prefix: 'm_' }).config);
  await call(server, 'm_learn');
  await eventually(() => expect(changes).toHaveLength(2));
  expect(changes[1]?.map(({ name }) => name)).toContain('m_sing');
  expect(changes[1]).toBe(server.tools());
});

test('a changed definition reaches onChange as it now is', async () => {
  const { server, changes } = await open(moodyServer().config);
  expect(server.hintsOf('greet')?.destructive).toBe(true);
  await call(server, 'refine');
  await eventually(() => expect(changes).toHaveLength(2));
  const greet = changes[1]?.find(({ name }) => name === 'greet');
  expect(greet?.description).toBe('Greets loudly');
  expect(greet?.inputSchema.parse({})).toMatchObject({ ok: false, field: 'name' });
  expect(server.hintsOf('greet')?.destructive).toBe(undefined);
});

test('a list that is announced as changed and is not changes nothing', async () => {
  const { config, notes } = moodyServer();
  const { server, changes } = await open(config);
  const before = server.tools();
  await call(server, 'repeat');
  await eventually(() => expect(notes().filter((line) => line === 'listed from 8')).toHaveLength(2));
  await call(server, 'greet');
  expect(changes).toHaveLength(1);
  expect(server.tools()).toBe(before);
});

test('an onChange that throws does not cost the connection', async () => {
  const onChange = () => {
    throw new Error('no room');
  };
  const { server, warnings } = await open(moodyServer().config, { onChange });
  expect(await call(server, 'greet')).toBe('hello nobody');
  expect(warnings).toContainEqual(
    expect.objectContaining({ err: expect.objectContaining({ message: 'no room' }) }),
  );
});
