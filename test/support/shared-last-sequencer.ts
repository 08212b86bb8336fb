import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Puts the browser's files first, as they take longest, and the files that share a process last, side by side: Vitest hands a process on only to the file that is next. */
export class SharedLastSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ project }: TestSpecification): number {
  if (project.config.isolate === false) return 2;
  return project.name === 'browser' ? 0 : 1;
}
