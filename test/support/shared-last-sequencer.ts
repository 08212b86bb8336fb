import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The folders whose files take long: they start bots, servers or commands. */
const LONG = /\/test\/(stories|store|commands|docs|package|deploy|oracle)\//;

/**
 * Puts the browser's files first, as they take longest, and the files that share a process last, side by side: Vitest hands a process on only
 * to the file that is next. Of those the long ones come first, so that no process ends with one while the others have nothing left to do.
 */
export class SharedLastSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ project, moduleId }: TestSpecification): number {
  if (project.config.isolate === false) return LONG.test(moduleId) ? 2 : 3;
  return project.name === 'browser' ? 0 : 1;
}
