// Verifies an exported audit log with the public key alone: node independent-verifier.mjs audit.jsonl public.pem
// It shares no code with the product. See "The audit log" in docs/record.md for the format.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

const [, , file = '', keyFile = ''] = process.argv;
const key = createPublicKey(readFileSync(keyFile));
const texts = readFileSync(file, 'utf8').trim().split('\n');
const lines = texts.map((text) => JSON.parse(text));
const problems = [];

function check(isGood, problem) {
  if (!isGood) problems.push(problem);
}

function hash(algorithm, text) {
  return createHash(algorithm).update(text).digest('hex');
}

/** JSON with sorted keys. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}

// The rows of a shard count from 1, and each covers the one before it. A row may come again. Later
// rows and checkpoints prove the hashes of an erased row.
const shards = new Map();
for (const { type, shard, seq, at, event, subject, detail, body, hash: own, sha256: given } of lines.filter(
  ({ n }) => n === undefined,
)) {
  const seen = shards.get(shard) ?? [{ hash: '', sha256: '' }];
  shards.set(shard, seen);
  const { hash: before = '', sha256: sealed = '' } = seen[seq - 1] ?? {};
  const digest = (body ?? '') === '' ? '' : hash('sha256', body);
  const link = hash('sha1', [before, seq, at, event, subject, detail, digest].join('\n'));
  const sha256 = given ?? hash('sha256', JSON.stringify([sealed, seq, at, event, subject, detail, body]));
  check(seen[seq - 1], `shard ${shard}, row ${seq}: the row before it is missing or comes later`);
  check(type === 'erased' || link === own, `shard ${shard}, row ${seq}: changed`);
  check((seen[seq]?.sha256 ?? sha256) === sha256, `shard ${shard}, row ${seq}: two different rows`);
  seen[seq] = { hash: own, sha256 };
}

// Checkpoints are signed and numbered from 1; each covers the one before it and the last row of every shard.
let last = { n: 0, text: '', hash: '' };
for (const { type: _type, ...checkpoint } of lines.filter(({ n }) => n !== undefined)) {
  const { n, previous, heads, signature, ...rest } = checkpoint;
  const signed = Buffer.from(canonical({ n, previous, heads, ...rest }));
  const text = canonical(checkpoint);
  check(verify(null, signed, key, Buffer.from(signature, 'base64')), `checkpoint ${n}: wrong signature`);
  check(text === last.text || (n === last.n + 1 && previous === last.hash), `checkpoint ${n}: not the next`);
  for (const { shard, seq, sha256 } of heads)
    check(shards.get(shard)?.[seq]?.sha256 === sha256, `shard ${shard}, row ${seq}: not the signed row`);
  last = { n, text, hash: hash('sha256', text) };
}
check(last.n > 0, 'there is no checkpoint');
console.log(problems.join('\n') || 'ok');
process.exitCode = problems.length === 0 ? 0 : 1;
