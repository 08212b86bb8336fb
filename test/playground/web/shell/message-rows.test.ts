import { describe, expect, test } from 'vitest';
import type { MessageEntity } from '../../../../playground/protocol.ts';
import { firstNewTs, toRows } from '../../../../playground/web/src/conversation/message-rows.ts';
import { message } from './entities.ts';

const NOON = new Date(2026, 4, 20, 12).getTime() / 1000;
const NOW = new Date(2026, 4, 20, 18);

function at(seconds: number): string {
  return `${NOON + seconds}.000000`;
}

function drawn(messages: readonly MessageEntity[], newTs?: string): readonly string[] {
  return toRows(messages, { newTs, now: NOW }).map((row) => {
    if (row.kind !== 'message') return row.kind === 'day' ? row.label : 'New';
    return row.isCompact ? 'compact' : row.message.user;
  });
}

describe('a list of messages', () => {
  test('messages of one person within minutes are grouped', () => {
    const messages = [
      message(at(0), 'U1'),
      message(at(60), 'U1'),
      message(at(61), 'U2'),
      message(at(900), 'U2'),
    ];
    expect(drawn(messages)).toEqual(['Today', 'U1', 'compact', 'U2', 'U2']);
  });

  test('each day has its own divider', () => {
    const messages = [message(at(-5 * 86_400), 'U1'), message(at(-86_400), 'U1'), message(at(0), 'U1')];
    expect(drawn(messages)).toEqual(['Friday, May 15', 'U1', 'Yesterday', 'U1', 'Today', 'U1']);
  });

  test('the divider is before the first new message, which is not grouped with the previous one', () => {
    const messages = [message(at(0), 'U1'), message(at(1), 'U1')];
    expect(drawn(messages, at(1))).toEqual(['Today', 'U1', 'New', 'U1']);
  });

  test('ephemeral and public messages are not grouped', () => {
    const messages = [message(at(0), 'UBOT'), message(at(1), 'UBOT', { isEphemeral: true })];
    expect(drawn(messages)).toEqual(['Today', 'UBOT', 'UBOT']);
  });
});

describe('the first new message', () => {
  const messages = [message(at(0), 'U2'), message(at(1), 'U1'), message(at(2), 'U2')];

  test('it is the first one of another person after the read position', () => {
    expect(firstNewTs(messages, { lastRead: at(0), me: 'U1' })).toBe(at(2));
  });

  test('there is none when nothing was unread', () => {
    expect(firstNewTs(messages, { lastRead: undefined, me: 'U1' })).toBeUndefined();
    expect(firstNewTs(messages, { lastRead: at(2), me: 'U1' })).toBeUndefined();
  });
});
