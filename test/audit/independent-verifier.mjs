// Verifies an exported audit log with the public keys alone: node independent-verifier.mjs audit.jsonl public.pem
// It shares no code with the product. See "The format" in docs/audit.md.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

const [, , file = '', keyFile = ''] = process.argv;
// The file may hold several keys: the one that signs now, and those before it.
const pems = readFileSync(keyFile, 'utf8').match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g);
const keys = new Map((pems ?? []).map((pem) => [keyId(createPublicKey(pem)), createPublicKey(pem)]));
const texts = readFileSync(file, 'utf8').trim().split('\n');
const lines = texts.map((text) => JSON.parse(text));
const problems = [];

function check(isGood, problem) {
  if (!isGood) problems.push(problem);
}

function hash(algorithm, text) {
  return createHash(algorithm).update(text).digest('hex');
}

function keyId(key) {
  return hash('sha256', key.export({ type: 'spki', format: 'der' })).slice(0, 16);
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
for (const { type, v, seq, at, event, subject, detail, body, hash: own, sha256: given } of lines.filter(
  ({ n }) => n === undefined,
)) {
  const { hash: before = '', sha256: sealed = '' } = seen[seq - 1] ?? {};
  const digest = (body ?? '') === '' ? '' : hash('sha256', body);
  const link = hash('sha1', [before, v, seq, at, event, subject, detail, digest].join('\n'));
  const sha256 = given ?? hash('sha256', JSON.stringify([sealed, v, seq, at, event, subject, detail, body]));
  check(seen[seq - 1], `row ${seq}: the row before it is missing or comes later`);
  check(type === 'erased' || link === own, `row ${seq}: changed`);
  check((seen[seq]?.sha256 ?? sha256) === sha256, `row ${seq}: two different rows`);
  seen[seq] = { hash: own, sha256 };
}

// Checkpoints are signed and numbered from 1; each covers the one before it and the last row. A key
// that another has replaced signs nothing any more.
let last = { n: 0, text: '', hash: '', seq: 0, keyId: '' };
for (const { type: _type, ...checkpoint } of lines.filter(({ n }) => n !== undefined)) {
  const { signature, ...unsigned } = checkpoint;
  const { n, previous, seq, sha256 } = unsigned;
  const text = canonical(checkpoint);
  const key = keys.get(unsigned.keyId);
  const isSigned =
    key && verify(null, Buffer.from(canonical(unsigned)), key, Buffer.from(signature, 'base64'));
  check(isSigned, `checkpoint ${n}: wrong signature`);
  check(text === last.text || (n === last.n + 1 && previous === last.hash), `checkpoint ${n}: not the next`);
  check(seen[seq]?.sha256 === sha256, `row ${seq}: not the signed row`);
  if (last.keyId !== unsigned.keyId) keys.delete(last.keyId);
  last = { n, text, hash: hash('sha256', text), seq, keyId: unsigned.keyId };
}
check(last.n > 0, 'there is no checkpoint');

// An erased row counts only if a signed row names it.
const erasures = lines.filter(
  ({ type, event, seq }) => type === 'row' && event === 'erased' && seq <= last.seq,
);
const named = erasures.flatMap(({ body }) => JSON.parse(body).erased_rows ?? []);
for (const { seq } of lines.filter(({ type }) => type === 'erased'))
  check(
    named.some(([from, to]) => from <= seq && seq <= to),
    `row ${seq}: erased, and no signed row names it`,
  );

// What was asked has the digest of its parts: of each value its hash, of each part the hash of those, and of them the
// hash of the whole. A row lists the hashes of values that were redacted.
const PARTS =
  `tool definition policy_definition policy_name policy rule rule_policy verdict arguments inner answer ask title
  target shown preview changes first_shown files first reversible runs_as undoes requesters context_authors barred edited_by thread`.split(
    /\s+/,
  );

function hashes(value, at, hidden) {
  if (hidden[at] !== undefined) return hidden[at];
  if (value === null || typeof value !== 'object') return hash('sha256', JSON.stringify(value));
  const entries = Object.entries(value).map(([key, entry]) => {
    return [key, hashes(entry, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, hidden)];
  });
  return Array.isArray(value) ? entries.map(([, entry]) => entry) : Object.fromEntries(entries);
}

for (const { seq, body } of lines.filter(({ type, event }) => type === 'row' && event === 'asked')) {
  const { digest_version: v, digest, hidden = {}, steps, ...row } = JSON.parse(body);
  if (v !== 5) continue;
  const parts = PARTS.filter((name) => row[name] !== undefined).map((name) => {
    return [name, hidden[`/${name}`] ?? hash('sha256', canonical(hashes(row[name], `/${name}`, hidden)))];
  });
  const shown = hash('sha256', canonical({ v, parts: Object.fromEntries(parts) }));
  const list = steps?.map((step, index) => [index + 1, step.digest]);
  const whole = list === undefined ? shown : hash('sha256', canonical({ shown, list }));
  check(whole === digest, `row ${seq}: not what its digest was computed from`);
}
console.log(problems.join('\n') || 'ok');
process.exitCode = problems.length === 0 ? 0 : 1;
