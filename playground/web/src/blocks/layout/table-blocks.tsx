import { type CSSProperties, useState } from 'react';
import type { JsonObject } from '../../../../slack/state/types.ts';
import { isObject, numberOf, objects, stringOf } from '../json.ts';
import { renderList } from '../render-list.tsx';
import { Prose } from '../text/prose.tsx';
import { readRichText } from '../text/read-rich-text.ts';
import { ScrollFrame } from './scroll-frame.tsx';

const DEFAULT_PAGE_SIZE = 10;

/** A table; its first row is the head. */
export function TableBlock({ block }: { readonly block: JsonObject }) {
  const rows = rowsOf(block);
  const settings = Array.isArray(block.column_settings) ? block.column_settings : [];
  return <Table head={rows[0] ?? []} rows={rows.slice(1)} settings={settings} />;
}

/** A table with a caption, of which a page is shown at a time. */
export function DataTableBlock({ block }: { readonly block: JsonObject }) {
  const [page, setPage] = useState(0);
  const [head = [], ...rows] = rowsOf(block);
  const size = numberOf(block.page_size) ?? DEFAULT_PAGE_SIZE;
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const shown = Math.min(page, pages - 1);
  const header = numberOf(block.row_header_column_index);
  return (
    <div>
      <Table
        head={head}
        rows={rows.slice(shown * size, (shown + 1) * size)}
        settings={[]}
        caption={stringOf(block.caption)}
        {...(header !== undefined && { header })}
      />
      {pages === 1 ? null : (
        <div className="block-pages">
          <button
            type="button"
            className="element-button"
            disabled={shown === 0}
            onClick={() => setPage(shown - 1)}
          >
            Previous
          </button>
          <span>{`Page ${shown + 1} of ${pages}`}</span>
          <button
            type="button"
            className="element-button"
            disabled={shown === pages - 1}
            onClick={() => setPage(shown + 1)}
          >
            Next
          </button>
        </div>
      )}
    </div>
  );
}

interface TableProps {
  readonly head: readonly JsonObject[];
  readonly rows: readonly (readonly JsonObject[])[];
  readonly settings: readonly unknown[];
  readonly caption?: string;
  /** The column that names its row. */
  readonly header?: number;
}

function Table({ head, rows, settings, caption, header }: TableProps) {
  const cells = (row: readonly JsonObject[], isHead: boolean) =>
    renderList(row, (cell, column) => {
      const props = { style: styleOf(settings[column], cell), children: <CellView cell={cell} /> };
      if (isHead) return <th scope="col" {...props} />;
      return column === header ? <th scope="row" {...props} /> : <td {...props} />;
    });
  return (
    <ScrollFrame className="prose-table-frame" label={caption ?? 'Table'}>
      <table className="prose-table">
        {caption === undefined ? null : <caption>{caption}</caption>}
        <thead>
          <tr>{cells(head, true)}</tr>
        </thead>
        <tbody>
          {renderList(rows, (row) => (
            <tr>{cells(row, false)}</tr>
          ))}
        </tbody>
      </table>
    </ScrollFrame>
  );
}

function CellView({ cell }: { readonly cell: JsonObject }) {
  return cell.type === 'rich_text' ? <Prose passages={readRichText(cell)} /> : stringOf(cell.text);
}

function styleOf(setting: unknown, cell: JsonObject): CSSProperties {
  const { align, is_wrapped } = isObject(setting) ? setting : {};
  const usual = cell.type === 'raw_number' ? 'right' : 'left';
  return {
    textAlign: align === 'center' || align === 'right' ? align : usual,
    whiteSpace: is_wrapped === true ? 'pre-wrap' : 'pre',
  };
}

function rowsOf(block: JsonObject): JsonObject[][] {
  return Array.isArray(block.rows) ? block.rows.map(objects) : [];
}
