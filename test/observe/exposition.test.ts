import { expect, test } from 'vitest';
import { parseExposition } from './exposition.ts';

const HEAD = '# HELP a_total Counts.\n# TYPE a_total counter\n';
const HISTOGRAM = '# HELP h Times.\n# TYPE h histogram\n';
const bucketsOf = (first: number, last: number, count: number) =>
  `${HISTOGRAM}h_bucket{le="1"} ${first}\nh_bucket{le="+Inf"} ${last}\nh_sum 3\nh_count ${count}\n`;

test('the parser of the tests reads what Prometheus reads', () => {
  expect(parseExposition(`${HEAD}a_total{x="a \\"b\\""} 1\n`).samples).toHaveLength(1);
  expect(parseExposition(bucketsOf(1, 2, 2)).samples).toHaveLength(4);
});

test.each([
  ['a last line without its end', `${HEAD}a_total 1`],
  ['a sample without HELP', '# TYPE a_total counter\na_total 1\n'],
  ['a sample without TYPE', '# HELP a_total Counts.\na_total 1\n'],
  ['two types of one metric', `${HEAD}# TYPE a_total gauge\n`],
  ['an unknown type', '# HELP a A.\n# TYPE a number\na 1\n'],
  ['a value that is no number', `${HEAD}a_total one\n`],
  ['a name with a dash', `${HEAD}a-total 1\n`],
  ['a label without quotes', `${HEAD}a_total{x=1} 1\n`],
  ['the same sample twice', `${HEAD}a_total 1\na_total 2\n`],
  ['a counter below zero', `${HEAD}a_total -1\n`],
  ['a counter without _total', '# HELP a A.\n# TYPE a counter\na 1\n'],
  ['buckets that shrink', bucketsOf(3, 2, 2)],
  ['a count that is not the last bucket', bucketsOf(1, 2, 3)],
])('the parser of the tests refuses %s', (_what, text) => {
  expect(() => parseExposition(text)).toThrow();
});
