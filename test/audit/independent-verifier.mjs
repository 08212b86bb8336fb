// Verifies an exported audit log with the public key alone: node independent-verifier.mjs audit.jsonl public.pem
// It shares no code with the product. See "The format" in docs/audit.md.
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

// Rows count from 1, and each covers the one before it. A row may come again. Later rows and
// checkpoints prove the hashes of an erased row.
const seen = [{ hash: '', sha256: '' }];
for (const { type, seq, at, event, subject, detail, body, hash: own, sha256: given } of lines.filter(
  ({ n }) => n === undefined,
)) {
  const { hash: before = '', sha256: sealed = '' } = seen[seq - 1] ?? {};
  const digest = (body ?? '') === '' ? '' : hash('sha256', body);
  const link = hash('sha1', [before, seq, at, event, subject, detail, digest].join('\n'));
  const sha256 = given ?? hash('sha256', JSON.stringify([sealed, seq, at, event, subject, detail, body]));
  check(seen[seq - 1], `row ${seq}: the row before it is missing or comes later`);
  check(type === 'erased' || link === own, `row ${seq}: changed`);
  check((seen[seq]?.sha256 ?? sha256) === sha256, `row ${seq}: two different rows`);
  seen[seq] = { hash: own, sha256 };
}

// Checkpoints are signed and numbered from 1; each covers the one before it and the last row.
let last = { n: 0, text: '', hash: '' };
for (const { type: _type, ...checkpoint } of lines.filter(({ n }) => n !== undefined)) {
  const { signature, ...unsigned } = checkpoint;
  const { n, previous, seq, sha256 } = unsigned;
  const text = canonical(checkpoint);
  const isSigned = verify(null, Buffer.from(canonical(unsigned)), key, Buffer.from(signature, 'base64'));
  check(isSigned, `checkpoint ${n}: wrong signature`);
  check(text === last.text || (n === last.n + 1 && previous === last.hash), `checkpoint ${n}: not the next`);
  check(seen[seq]?.sha256 === sha256, `row ${seq}: not the signed row`);
  last = { n, text, hash: hash('sha256', text) };
}
check(last.n > 0, 'there is no checkpoint');
console.log(problems.join('\n') || 'ok');
process.exitCode = problems.length === 0 ? 0 : 1;
