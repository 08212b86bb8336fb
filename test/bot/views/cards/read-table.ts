import type { JsonObject, JsonValue } from '../../../../src/agent/json.ts';
import { readJson } from '../../../../src/bot/views/cards/render-value.ts';
import { readLine } from './read-rendered.ts';

/** Reads back what `tableText` wrote, as its comment says. */
export function readTable(text: string): JsonObject[] {
  const [names = [], ...rows] = text.split('\n').map(cellsIn);
  return rows.map((cells) =>
    Object.fromEntries(
      names.flatMap((name, column): [string, JsonValue][] => {
        const cell = cells[column] ?? '';
        return cell === '–' ? [] : [[name.startsWith('"') ? String(readJson(name)) : name, readCell(cell)]];
      }),
    ),
  );
}

function cellsIn(line: string): string[] {
  const cells: string[] = [];
  let [start, isQuoted] = [0, false];
  for (let at = 0; at < line.length; at += 1) {
    if (isQuoted && line[at] === '\\') at += 1;
    else if (line[at] === '"' && (isQuoted || /^["[{]/.test(line.slice(start)))) isQuoted = !isQuoted;
    else if (!isQuoted && line.startsWith(' | ', at)) {
      cells.push(line.slice(start, at));
      start = at + 3;
      at += 2;
    }
  }
  return [...cells, line.slice(start)].map((cell) => cell.trim());
}

function readCell(cell: string): JsonValue {
  try {
    return readJson(cell);
  } catch {
    return readLine(cell);
  }
}
