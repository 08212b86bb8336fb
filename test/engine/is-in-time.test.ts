import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { isInTime } from '../../src/engine/outcomes.ts';

const SILENCE_MS = 30_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'Date'] });
  vi.advanceTimersByTime(1_000);
  onTestFinished(() => void vi.useRealTimers());
});

test('an attempt may take effect until the last moment before its silence is over', () => {
  const sentAt = performance.now();
  expect(isInTime(sentAt, SILENCE_MS)).toBe(true);
  vi.advanceTimersByTime(SILENCE_MS - 1);
  expect(isInTime(sentAt, SILENCE_MS)).toBe(true);
});

test('an attempt must not take effect once its silence is over, and never again', () => {
  const sentAt = performance.now();
  vi.advanceTimersByTime(SILENCE_MS);
  expect(isInTime(sentAt, SILENCE_MS)).toBe(false);
  vi.advanceTimersByTime(10 * SILENCE_MS);
  expect(isInTime(sentAt, SILENCE_MS)).toBe(false);
});

test('a clock that is put forward or back makes nothing late, and nothing early', () => {
  const sentAt = performance.now();
  vi.setSystemTime(Date.now() + 10 * SILENCE_MS);
  expect(isInTime(sentAt, SILENCE_MS)).toBe(true);
  vi.setSystemTime(Date.now() - 20 * SILENCE_MS);
  vi.advanceTimersByTime(SILENCE_MS);
  expect(isInTime(sentAt, SILENCE_MS)).toBe(false);
});
