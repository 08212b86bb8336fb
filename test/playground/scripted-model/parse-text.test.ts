import { expect, test } from 'vitest';
import {
  parseAmount,
  parseOrderId,
  parseQuoted,
  parseReason,
} from '../../../playground/scripted-model/parse-text.ts';

test.each([
  ['Please refund 20 dollars of order A-1001, it came late.', 'A-1001'],
  ['refund a1002', 'A-1002'],
  ['what is in order 1003?', 'A-1003'],
  ['order number 1004 please', 'A-1004'],
  ['refund #1001', 'A-1001'],
  ['refund 1200 dollars', undefined],
])('the order in "%s" is %s', (words, order) => {
  expect(parseOrderId(words)).toBe(order);
});

test.each([
  ['refund 20 dollars of order A-1001', 2_000],
  ['refund $120.50 of A-1001', 12_050],
  ['refund 1,200 USD', 120_000],
  ['refund 2500 cents of order 1001', 2_500],
  ['refund 35 of A-1001', 3_500],
  ['refund order A-1001 with 12.5€', 1_250],
  ['refund half of order A-1001', 22_500],
  ['refund all of it', 45_000],
  ['refund order A-1001 completely', 45_000],
  ['refund order A-1001', undefined],
  ['refund 0 dollars', undefined],
])('the amount in "%s", of 450 dollars, is %s cents', (words, cents) => {
  expect(parseAmount(words, 45_000)).toBe(cents);
});

test.each([
  ['Please refund 20 dollars of order A-1001, it came late.', 'it came late'],
  ['refund A-1001 because the top is scratched!', 'the top is scratched'],
  ['Please, refund 20 dollars of A-1001', ''],
  ['refund 1,200 dollars', ''],
])('the reason in "%s" is "%s"', (words, reason) => {
  expect(parseReason(words)).toBe(reason);
});

test.each([
  ['publish on the status page: "All is well."', 'All is well.'],
  ['put “Slow today” on the status page', 'Slow today'],
  ['status page: we are back', 'we are back'],
  ['publish something on the status page', undefined],
])("what is to be published by '%s' is %s", (words, line) => {
  expect(parseQuoted(words)).toBe(line);
});
