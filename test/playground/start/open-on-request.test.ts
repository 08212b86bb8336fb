import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { openOnRequest } from '../../../playground/start/open-on-request.ts';

const URL_OF_PAGE = 'http://127.0.0.1:4400';

/** Types lines into a terminal, or into what is none, and returns what was opened. */
async function type(lines: readonly string[], isTTY: boolean): Promise<string[]> {
  const terminal = Object.assign(new PassThrough(), { isTTY });
  const opened: string[] = [];
  openOnRequest(URL_OF_PAGE, terminal, (url) => void opened.push(url));
  for (const line of lines) terminal.write(line);
  terminal.end();
  if (isTTY) await new Promise((resolve) => terminal.once('end', resolve));
  return opened;
}

test('the letter o opens the page, as often as it is entered, and nothing else does', async () => {
  expect(await type(['o\n'], true)).toEqual([URL_OF_PAGE]);
  expect(await type([' O \r\n', 'open\n', '\n', 'q\n'], true)).toEqual([URL_OF_PAGE]);
});

test('what is no terminal is not read', async () => {
  expect(await type(['o\n'], false)).toEqual([]);
});
