import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, '.samples');
const BLOCK = /^```ts\n(.*?)^```$/gms;

/** A TypeScript sample of the documentation, written to a file of its own. */
export interface Sample {
  /** Names the document and the number of the sample in it, such as `README.md 1`. */
  readonly name: string;
  readonly file: string;
}

/** Writes every TypeScript sample of the documentation to a file, at the line where the document has it. */
export function extractSamples(): Sample[] {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER);
  const docs = ['docs', 'docs/evidence'].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).flatMap((name) => (name.endsWith('.md') ? [`${folder}/${name}`] : [])),
  );
  return ['README.md', 'CONTRIBUTING.md', ...docs].flatMap((document) => {
    const text = readFileSync(join(ROOT, document), 'utf8');
    return [...text.matchAll(BLOCK)].map(({ index, 1: code = '' }, number) => {
      const file = join(FOLDER, `${basename(document, '.md').toLowerCase()}-${number + 1}.ts`);
      // An error in the sample then has the line of the document.
      const before = '\n'.repeat(text.slice(0, index).split('\n').length);
      writeFileSync(file, `${before}${code}`);
      return { name: `${document} ${number + 1}`, file };
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) extractSamples();
