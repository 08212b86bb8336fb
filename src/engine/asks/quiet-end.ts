import type { RequestRecord } from '../../store/port/request-record.ts';
import type { EngineContext } from '../ports.ts';
import { quietEnd as endOf } from '../quiet-end.ts';
import { readDetails } from '../request-details.ts';

/** Returns when the quiet hours end in which a request waits; `undefined` if people may be told at once. */
export function quietEnd(
  { toolbox }: Pick<EngineContext, 'toolbox'>,
  request: RequestRecord,
  now?: Date,
): number | undefined {
  return endOf(toolbox, request, readDetails(request)?.policy, now);
}
