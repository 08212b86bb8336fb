import { expect, test } from 'vitest';
import { readSlackFiles } from '../../../../src/bot/slack/file-host.ts';
import { judgeKind } from '../../../../src/engine/turns/files/read-file.ts';
import { makePdf, makePng } from '../../../support/make-file.ts';

const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');

test.each([
  ['a PNG', makePng(1, 1), 'image', 'image/png'],
  ['a JPEG', Buffer.from([0xff, 0xd8, 0xff, 0xe0]), 'image', 'image/jpeg'],
  ['a WebP', Buffer.from('RIFF0000WEBPVP8 '), 'image', 'image/webp'],
  ['a PDF', makePdf('x'), 'pdf', 'application/pdf'],
  ['an archive', Buffer.from('PK\x03\x04'), 'archive', 'application/zip'],
  ['a tar', Buffer.concat([Buffer.alloc(257, 'a'), Buffer.from('ustar')]), 'archive', 'application/x-tar'],
  ['UTF-8', Buffer.from('grün'), 'text', 'text/plain'],
  ['UTF-16', utf16('grün'), 'text', 'text/plain'],
  ['UTF-16, the other way round', utf16('grün').swap16(), 'text', 'text/plain'],
  ['an SVG', Buffer.from('<svg/>'), 'text', 'text/plain'],
  ['text with a NUL', Buffer.from('a\0b'), 'other', 'unknown type'],
  ['Latin-1', Buffer.from([0x67, 0xfc, 0x6e]), 'other', 'unknown type'],
])('%s is judged by its content', (_what, bytes, kind, type) => {
  expect(judgeKind(bytes)).toMatchObject({ kind, type });
});

test('UTF-16 is decoded, without its mark', () => {
  expect(judgeKind(utf16('grün'))).toMatchObject({ text: 'grün' });
});

test('the files of an event are read as Slack may send them', () => {
  expect(
    readSlackFiles([
      { id: 'F1', name: 'a.txt', size: 3, url_private: 'https://files.slack.com/a', mode: 'hosted' },
      { id: 'F2', mode: 'file_access', file_access: 'check_file_info' },
      { id: 'F3', mode: 'tombstone' },
      { id: 'F4', name: 'sheet', is_external: true, url_private: 'https://docs.example.com' },
      { name: 'without an id' },
    ]),
  ).toEqual([
    { id: 'F1', name: 'a.txt', size: 3, url: 'https://files.slack.com/a' },
    { id: 'F2', name: 'file' },
    { id: 'F3', name: 'file', absent: 'deleted' },
    { id: 'F4', name: 'sheet', url: 'https://docs.example.com', absent: 'external' },
  ]);
  expect(readSlackFiles(undefined)).toEqual([]);
});
