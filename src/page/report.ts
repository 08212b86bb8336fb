import { type Chart, chartsOf, type Drawn, drawChart, tableOf } from './plots.ts';
import type { Figures } from './protocol.ts';

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
.plot { display: block; width: 100%; max-width: 36rem; height: auto; }
.plot text { font-size: 12px; fill: currentColor; }
.part-0 { fill: #2f7d4f; } .part-1 { fill: #c0392b; } .part-2 { fill: #9a6700; } .part-3 { fill: #6e7781; } .part-4 { fill: #2a78c2; }
table { border-collapse: collapse; } th, td { padding: 0.2rem 0.8rem 0.2rem 0; text-align: left; }
.key { display: inline-block; width: 0.8em; height: 0.8em; margin: 0 0.4em 0 1em; }
.key.part-0 { background: #2f7d4f; } .key.part-1 { background: #c0392b; }
.key.part-2 { background: #9a6700; } .key.part-3 { background: #6e7781; } .key.part-4 { background: #2a78c2; }
`;

/** Writes the figures as one file that needs nothing else: no script, no other host. */
export function reportHtml(
  figures: Omit<Figures, 'names'>,
  nameOf: (id: string) => string,
  at: Date,
): string {
  const span = figures.days === undefined ? 'all requests in the log' : `the last ${figures.days} days`;
  const charts = chartsOf(figures, nameOf).map(chartHtml).join('\n');
  const body =
    charts === ''
      ? '<p>No request needed an approval in this time.</p>'
      : `<p>${figures.requests} requests.</p>${charts}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Countersign: figures</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Figures</h1>
<p>Of ${span}, written ${escapeHtml(at.toISOString())}.</p>
${body}
</main>
</body>
</html>
`;
}

function chartHtml(chart: Chart): string {
  const keys = chart.series
    .map(
      (name, index) => `<span class="key part-${chart.tones?.[index] ?? index}"></span>${escapeHtml(name)}`,
    )
    .join('');
  const [headings = [], ...rows] = tableOf(chart);
  const head = headings.map((cell) => `<th scope="col">${escapeHtml(cell)}</th>`).join('');
  const lines = rows
    .map(([label = '', ...cells]) => {
      const values = cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('');
      return `<tr><th scope="row">${escapeHtml(label)}</th>${values}</tr>`;
    })
    .join('');
  return `<section>
<h2>${escapeHtml(chart.title)}</h2>
<p>${escapeHtml(chart.about)}${keys}</p>
${markup(drawChart(chart))}
<details><summary>Table</summary><table><thead><tr>${head}</tr></thead><tbody>${lines}</tbody></table></details>
</section>`;
}

function markup(drawn: Drawn): string {
  if (typeof drawn === 'string') return escapeHtml(drawn);
  const { tag, attributes, children } = drawn;
  const written = Object.entries(attributes).map(
    ([name, value]) => ` ${name}="${escapeHtml(String(value))}"`,
  );
  return `<${tag}${written.join('')}>${children.map(markup).join('')}</${tag}>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
