import { expect, test } from 'vitest';
import { Resources } from '../../../playground/start/resources.ts';

function opener() {
  const openings = new Resources();
  const closed: string[] = [];
  const open = (name: string, opening = Promise.resolve()) =>
    openings.open(
      () => opening,
      async () => void closed.push(name),
    );
  return { openings, closed, open };
}

test('all is closed in the reverse order, once', async () => {
  const { openings, closed, open } = opener();
  await open('first');
  await open('second');
  await Promise.all([openings.close(), openings.close()]);
  expect(closed).toEqual(['second', 'first']);
});

test('a resource that opens after the close has started is closed too', async () => {
  const { openings, closed, open } = opener();
  let comeUp = () => {};
  const late = new Promise<void>((resolve) => {
    comeUp = resolve;
  });
  const opening = open('late', late);
  const closing = openings.close();
  comeUp();
  await Promise.all([opening, closing]);
  expect(closed).toEqual(['late']);
});

test('a resource that failed to open is not closed, and the others are', async () => {
  const { openings, closed, open } = opener();
  await open('first');
  await expect(open('broken', Promise.reject(new Error('no')))).rejects.toThrow('no');
  await openings.close();
  expect(closed).toEqual(['first']);
});

test('a resource that fails to close does not keep the others open', async () => {
  const { openings, closed, open } = opener();
  await open('first');
  await openings.open(
    async () => {},
    async () => {
      throw new Error('stuck');
    },
  );
  await expect(openings.close()).rejects.toThrow('Not everything could be stopped in order: stuck.');
  expect(closed).toEqual(['first']);
});

test('nothing is opened after the close has started', async () => {
  const { openings, closed, open } = opener();
  const closing = openings.close();
  await expect(open('too late')).rejects.toThrow('The playground is being stopped.');
  await closing;
  expect(closed).toEqual([]);
});
