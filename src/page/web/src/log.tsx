import { type FormEvent, useEffect, useMemo, useState } from 'react';
import { idsIn } from '../../names.ts';
import type { LogPart, LogRow, Names } from '../../protocol.ts';
import { titleInRow, whoIn } from '../../row-words.ts';
import { ask, readRows } from './api.ts';
import { Box, PageLink, useLoaded } from './parts.tsx';
import { Rows } from './rows.tsx';
import { Clock, TIME_ZONE } from './times.tsx';
import { type LogCheck, verifyLog } from './verify-log.ts';

/** The newest rows that are listed; the check reads all. */
const LISTED = 100;

type Checked =
  | { readonly state: 'reading'; readonly rows: number }
  | { readonly state: 'failed'; readonly error: string }
  | {
      readonly state: 'checked';
      readonly check: LogCheck;
      readonly rows: readonly LogRow[];
      readonly at: number;
    };

/** The audit log, checked in this browser each time it is opened. The address may name a row. */
export function Log({ query }: { query: URLSearchParams }) {
  const [key, setKey] = useState<string>();
  const [round, setRound] = useState(0);
  const asked = Number(query.get('row'));
  const chosen = Number.isSafeInteger(asked) && asked > 0 ? asked : undefined;
  const checked = useCheck(key, round);
  const give = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget).get('key');
    setKey(typeof given === 'string' && given.trim() !== '' ? given : undefined);
  };
  return (
    <>
      <h1>Log</h1>
      <p>
        Your browser checks every row and every signature. It takes nothing from the bot but the rows and,
        unless you give one, its public key.
      </p>
      <Result checked={checked} onAgain={() => setRound(round + 1)} />
      <details className="own-key">
        <summary>Check with your own copy of the public key</summary>
        <form onSubmit={give} className="stacked">
          <label>
            Public key (PEM)
            <textarea name="key" rows={4} />
          </label>
          <button type="submit">Check with this key</button>
        </form>
      </details>
      {checked.state === 'checked' && <Listed checked={checked} chosen={chosen} />}
    </>
  );
}

interface ListedOptions {
  readonly checked: Extract<Checked, { state: 'checked' }>;
  readonly chosen: number | undefined;
}

/** The rows around the one that was asked for, around the first fault, or the newest. */
function Listed({ checked: { check, rows: all }, chosen }: ListedOptions) {
  const broken = check.break !== undefined && 'row' in check.break.at ? check.break.at.row : undefined;
  const middle = chosen ?? broken;
  const rows = middle === undefined ? all.slice(-LISTED).reverse() : around(all, middle);
  const titles = useMemo(() => titlesIn(all), [all]);
  const ids = [...new Set(rows.flatMap((row) => [...idsIn(row.detail), ...whoIn(row)]))].join(',');
  const names = useLoaded<Names>(`names?ids=${ids}`);
  const isThere = chosen === undefined || rows.some(({ seq }) => seq === chosen);
  return (
    <Box
      title={middle === undefined ? 'Newest rows' : `Rows around row ${middle}`}
      beside={<span className="soft">all times in {TIME_ZONE}</span>}
    >
      {middle !== undefined && (
        <p className="inset">
          {!isThere && `Row ${middle} is not in the log. `}
          <PageLink to="log">Newest rows</PageLink>
        </p>
      )}
      {rows.length === 0 && middle === undefined && <p className="inset">Nothing was recorded yet.</p>}
      <Rows
        rows={rows}
        names={names.state === 'loaded' ? names.value : {}}
        titles={titles}
        broken={broken}
        chosen={chosen}
        hasLinks={true}
      />
    </Box>
  );
}

/** The titles of requests, as the rows that begin them have them. */
function titlesIn(rows: readonly LogRow[]): ReadonlyMap<string, string> {
  const titles = new Map<string, string>();
  for (const row of rows) {
    const title = titles.has(row.subject) ? undefined : titleInRow(row);
    if (title !== undefined) titles.set(row.subject, title);
  }
  return titles;
}

function useCheck(key: string | undefined, round: number): Checked {
  const [checked, setChecked] = useState<Checked>({ state: 'reading', rows: 0 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round checks again.
  useEffect(() => {
    let isOver = false;
    const show = (next: Checked) => {
      if (!isOver) setChecked(next);
    };
    void checkLog(key, (rows) => show({ state: 'reading', rows })).then(show, (error: unknown) =>
      show({ state: 'failed', error: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      isOver = true;
    };
  }, [key, round]);
  return checked;
}

async function checkLog(key: string | undefined, onRead: (rows: number) => void): Promise<Checked> {
  onRead(0);
  const loaded = await ask<LogPart>('log');
  if (loaded.state !== 'loaded')
    return { state: 'failed', error: loaded.state === 'failed' ? loaded.error : '' };
  const first = loaded.value;
  const kept: LogRow[] = [];
  async function* keep(rows: AsyncIterable<LogRow>): AsyncGenerator<LogRow> {
    for await (const row of rows) {
      kept.push(row);
      yield row;
    }
  }
  const rows = keep(readRows(first, onRead));
  const check = await verifyLog({ first, rows, publicKeys: key ?? first.publicKeys ?? '' });
  return { state: 'checked', check, rows: kept, at: Date.now() };
}

function around(rows: readonly LogRow[], middle: number): readonly LogRow[] {
  return rows.filter(({ seq }) => Math.abs(seq - middle) <= LISTED / 4);
}

const SIGNATURES = {
  checked: '',
  'not-yet': 'Nothing is signed yet, so this proves only that its rows fit each other.',
  'no-key': 'The log is not signed, so this proves only that its rows fit each other.',
  'not-supported':
    "This browser can't check signatures (Ed25519), so this proves only that its rows fit each other.",
} as const;

function Result({ checked, onAgain }: { checked: Checked; onAgain: () => void }) {
  if (checked.state === 'reading') return <p role="status">Checking… {checked.rows} rows read.</p>;
  if (checked.state === 'failed') return <p role="alert">{checked.error}</p>;
  const { check, at } = checked;
  return (
    <div role="status" className={check.break === undefined ? 'verdict good' : 'verdict bad'}>
      <p>
        <strong>{check.break === undefined ? 'The log is intact.' : 'The log was changed.'}</strong>{' '}
        {check.break?.message}
      </p>
      <p>
        {check.rows} rows,{' '}
        {check.checkpoints === 1 ? '1 signed checkpoint' : `${check.checkpoints} signed checkpoints`}
        {check.signedUntil !== undefined && (
          <>
            , the last at <Clock at={check.signedUntil} />
          </>
        )}
        .{' '}
        {check.signatures === 'checked' && check.checkpoints === 0
          ? SIGNATURES['not-yet']
          : SIGNATURES[check.signatures]}{' '}
        {check.proven > 0 &&
          `${check.proven === 1 ? '1 approval is' : `${check.proven} approvals are`} proven by passkeys. `}
        {check.isTrimmed && 'Older rows were exported and removed.'}
      </p>
      <p className="soft">
        Checked in this browser at <Clock at={at} />{' '}
        <button type="button" className="quiet" onClick={onAgain}>
          Check again
        </button>
      </p>
    </div>
  );
}
