import { toJson } from '../../../agent/json.ts';
import type { Presented } from '../../../tools/presentation/presentation.ts';
import type { ToolEntry } from '../../../tools/toolbox/toolbox.ts';
import type { Directory } from '../../slack/directory.ts';
import { parseThreadId } from '../../slack/thread.ts';
import type { Details } from '../request-details.ts';
import { NOBODY, type TaskPeople } from '../task-people.ts';

/** Puts a call into words, with the names of the people in it where Slack knows them. */
export async function presentCall(
  directory: Directory,
  { presentation }: ToolEntry,
  input: unknown,
): Promise<NonNullable<Details['presented']>> {
  const relaxed = directory.relaxed();
  const people = [...new Set(presentation.peopleIn(input))];
  const names = await Promise.all(
    people.map((id) =>
      relaxed.member(id).then(
        ({ name }) => [[id, name] as const],
        () => [],
      ),
    ),
  );
  const { fields, ...presented }: Presented = presentation.present(toJson(input), new Map(names.flat()));
  return { ...presented, fields: [...fields] };
}

/** Computes what a call would change; `undefined` if neither its tool nor the manifest can say. */
export async function previewOf(
  { preview }: ToolEntry,
  input: unknown,
  { threadId, requesters, contextAuthors }: TaskPeople & { readonly threadId: string },
): Promise<NonNullable<Details['presented']>['preview']> {
  const { channel } = parseThreadId(threadId);
  const [requester = NOBODY] = requesters;
  return preview?.(input, { threadId, channel, requester, requesters, contextAuthors });
}
