import { showLine } from '../bot/views/texts/show-text.ts';
import type { Figures } from './protocol.ts';

/** An element of a drawing, for a browser or for a file; a text is never markup. */
export type Drawn =
  | string
  | {
      readonly tag: string;
      readonly attributes: Readonly<Record<string, string | number>>;
      readonly children: readonly Drawn[];
    };

/** Bars with the same numbers as a table. */
export interface Chart {
  readonly title: string;
  readonly about: string;
  /** The parts of a bar, in the order of the values. */
  readonly series: readonly string[];
  /** The colours of the parts; by default those of approved, rejected, expired and waiting. */
  readonly tones?: readonly number[];
  readonly rows: readonly {
    readonly label: string;
    readonly values: readonly number[];
    /** The values as they are written. */
    readonly texts: readonly string[];
  }[];
  /** Whether the parts of a row stand in one bar; otherwise each has its own. */
  readonly isStacked: boolean;
  /** The value of a whole bar; the largest one if it is left out. */
  readonly most?: number;
}

const MOST_ROWS = 20;

/** Chooses what is drawn of figures; each drawing has a table with the same numbers. */
export function chartsOf(figures: Omit<Figures, 'names'>, nameOf: (id: string) => string): Chart[] {
  const rules = figures.rules.slice(0, MOST_ROWS);
  const labelOf = ({ policy, because }: (typeof rules)[number]) => showLine(`${because} (${policy})`);
  const counted = (label: string, values: readonly number[]) => ({
    label,
    values,
    texts: values.map(String),
  });
  const decided = rules.filter(({ medianSeconds }) => medianSeconds !== undefined);
  const states = [...new Set(rules.flatMap(({ outcomes }) => Object.keys(outcomes)))].sort();
  return [
    {
      title: 'Requests',
      about: 'What people decided, per policy and rule.',
      series: ['approved', 'rejected', 'expired', 'waiting'],
      rows: rules.map((each) =>
        counted(labelOf(each), [each.approved, each.rejected, each.expired, each.waiting]),
      ),
      isStacked: true,
    },
    {
      title: 'Approval rate',
      about: 'The approved share of what people decided. A rule that is always approved may not be needed.',
      series: ['approved'],
      rows: decided.map((each) => shares(labelOf(each), each.approvalRate ?? 0, each.decided)),
      isStacked: true,
      most: 1,
    },
    {
      title: 'Time to a decision',
      about: 'Half of the requests were decided within the median, nine of ten within p90.',
      series: ['median', 'p90'],
      tones: [4, 3],
      rows: decided.map((each) => {
        const values = [each.medianSeconds ?? 0, each.p90Seconds ?? 0];
        const [median = '', p90 = ''] = values.map(secondsText);
        return { label: labelOf(each), values, texts: [median, `${p90} (n = ${each.decided})`] };
      }),
      isStacked: false,
    },
    {
      title: 'Decided within 3 seconds',
      about: 'A large share says that people approve without reading.',
      series: ['under 3 s'],
      tones: [4],
      rows: decided.map((each) => shares(labelOf(each), each.quickShare ?? 0, each.decided)),
      isStacked: true,
      most: 1,
    },
    {
      title: 'Load per approver',
      about: 'Votes of each person.',
      series: ['approved', 'rejected'],
      rows: figures.approvers
        .slice(0, MOST_ROWS)
        .map(({ who, approved, rejected }) => counted(nameOf(who), [approved, rejected])),
      isStacked: true,
    },
    {
      title: 'Outcomes',
      about: 'What became of requests, by their state now.',
      series: ['requests'],
      tones: [4],
      rows: states.map((state) =>
        counted(state, [rules.reduce((sum, { outcomes }) => sum + (outcomes[state] ?? 0), 0)]),
      ),
      isStacked: true,
    },
  ].filter(({ rows }) => rows.length > 0);
}

/** A share says of how many it is: of two, 100% means little. */
function shares(label: string, share: number, of: number) {
  return { label, values: [share], texts: [`${Math.round(share * 100)}% (n = ${of})`] };
}

/** Writes a duration for people. */
export function secondsText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds * 10) / 10} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

const [WIDTH, LABEL, BAR, GAP] = [440, 17, 15, 10];
/** The room for the number behind a bar. */
const VALUE = 110;
const LONGEST_LABEL = 66;

/** Draws the bars of a chart. What they say is in the table as well, so that a screen reader skips them. */
export function drawChart({ rows, isStacked, most, series, tones }: Chart): Drawn {
  const sums = rows.map(({ values }) => (isStacked ? sum(values) : Math.max(...values)));
  const largest = most ?? Math.max(...sums, Number.MIN_VALUE);
  const scale = (value: number) => (value / largest) * (WIDTH - VALUE);
  const height = LABEL + (isStacked ? 1 : series.length) * BAR + GAP;
  const drawn = rows.flatMap(({ label, values, texts }, index): Drawn[] => {
    const top = index * height;
    const name = element('text', { x: 0, y: top + LABEL - 5, class: 'label' }, cut(label));
    const bar = (part: number, x: number, y: number, width: number) =>
      element('rect', { x, y, width, height: BAR - 2, class: `part-${tones?.[part] ?? part}` });
    const number = (x: number, y: number, text: string) =>
      element('text', { x: x + 5, y: y + BAR - 4, class: 'value' }, text);
    if (!isStacked)
      return [
        name,
        ...values.flatMap((value, part) => {
          const y = top + LABEL + part * BAR;
          return [bar(part, 0, y, scale(value)), number(scale(value), y, texts[part] ?? '')];
        }),
      ];
    const y = top + LABEL;
    const bars = values.map((value, part) => bar(part, scale(sum(values.slice(0, part))), y, scale(value)));
    const total = texts.length === 1 ? (texts[0] ?? '') : String(sum(values));
    return [name, ...bars, number(scale(sum(values)), y, total)];
  });
  const viewBox = `0 0 ${WIDTH} ${rows.length * height}`;
  return element('svg', { viewBox, class: 'plot', 'aria-hidden': 'true' }, ...drawn);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Lists the table of a chart: headings, then a line for each row. */
export function tableOf({ series, rows }: Chart): string[][] {
  return [['', ...series], ...rows.map(({ label, texts }) => [label, ...texts])];
}

function element(
  tag: string,
  attributes: Readonly<Record<string, string | number>>,
  ...children: Drawn[]
): Drawn {
  return { tag, attributes, children };
}

function cut(label: string): string {
  const letters = [...label];
  return letters.length <= LONGEST_LABEL ? label : `${letters.slice(0, LONGEST_LABEL - 1).join('')}…`;
}
