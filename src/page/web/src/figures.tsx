import { createElement, type ReactNode } from 'react';
import { type Chart, chartsOf, type Drawn, drawChart, tableOf } from '../../plots.ts';
import type { Figures } from '../../protocol.ts';
import { Answer, nameIn, PageLink, Updated, useLoaded } from './parts.tsx';

const SPANS = [7, 30, 90] as const;

/** How people decide, as plots with a table behind each. */
export function FiguresView({ query }: { query: URLSearchParams }) {
  const days = query.get('days') ?? '';
  const loaded = useLoaded<Figures>(`figures?days=${encodeURIComponent(days)}`, { isLive: true });
  return (
    <>
      <h1>Figures</h1>
      <nav aria-label="Time" className="pages">
        {SPANS.map((span) => (
          <PageLink key={span} to={`figures?days=${span}`} isCurrent={days === String(span)}>
            {span} days
          </PageLink>
        ))}
        <PageLink to="figures" isCurrent={days === ''}>
          All
        </PageLink>
      </nav>
      <Answer loaded={loaded}>
        {(figures) => {
          const charts = chartsOf(figures, (id) => nameIn(figures.names, id));
          return (
            <>
              <p>
                {figures.requests === 1 ? '1 request' : `${figures.requests} requests`} that needed an
                approval. <Updated loaded={loaded} />
              </p>
              {charts.map((chart) => (
                <ChartView key={chart.title} chart={chart} />
              ))}
            </>
          );
        }}
      </Answer>
    </>
  );
}

function ChartView({ chart }: { chart: Chart }) {
  const [headings = [], ...rows] = tableOf(chart);
  return (
    <section className="box chart">
      <h2>{chart.title}</h2>
      <p>
        {chart.about}
        {chart.series.length > 1 &&
          chart.series.map((name, index) => (
            <span key={name} className="legend">
              <span className={`key part-${chart.tones?.[index] ?? index}`} />
              {name}
            </span>
          ))}
      </p>
      {render(drawChart(chart), 'plot')}
      <details>
        <summary>
          Table<span className="visually-hidden"> of {chart.title}</span>
        </summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by the keyboard. */}
        <section className="scroll" tabIndex={0} aria-label={`Table of ${chart.title}`}>
          <table>
            <thead>
              <tr>
                {headings.map((cell, index) =>
                  index === 0 ? (
                    <td key="corner" />
                  ) : (
                    <th key={cell} scope="col">
                      {cell}
                    </th>
                  ),
                )}
              </tr>
            </thead>
            <tbody>
              {rows.map(([label = '', ...cells]) => (
                <tr key={label}>
                  <th scope="row">{label}</th>
                  {cells.map((cell, index) => (
                    <td key={headings[index + 1]}>{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </section>
  );
}

function render(drawn: Drawn, key: string | number): ReactNode {
  if (typeof drawn === 'string') return drawn;
  const { class: className, ...attributes } = drawn.attributes;
  return createElement(
    drawn.tag,
    { ...attributes, className, key },
    drawn.children.map((child, index) => render(child, index)),
  );
}
