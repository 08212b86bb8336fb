import { z } from 'zod';
import { checkBlocks, type Problem } from '../../block-kit/check-blocks.ts';
import { checkView } from '../../block-kit/check-view.ts';
import { isObject } from '../../state/normalize-blocks.ts';
import { json } from '../arguments.ts';
import { defineMethod } from '../method.ts';
import { Refusal } from '../refusal.ts';

const part = json('invalid_arguments');

/** Checks a payload without posting it. Its errors are objects, where a posted message's are lines. */
export const validate = defineMethod(z.object({ blocks: part, message: part, view: part }), (given) => {
  const { blocks, message, view } = given;
  if ([blocks, message, view].filter((each) => each !== undefined).length !== 1)
    throw new Refusal('invalid_arguments', {
      response_metadata: { messages: ['must provide exactly one of `blocks`, `view`, or `message`'] },
    });
  if (blocks !== undefined) refuse('invalid_blocks', checkBlocks(blocks, 'message', ''));
  if (message !== undefined)
    refuse('invalid_message', checkBlocks(isObject(message) ? message.blocks : undefined));
  if (view !== undefined) {
    const checked = checkView(view, isObject(view) && view.type === 'home' ? 'home' : 'modal', '');
    refuse('invalid_view', checked.ok ? [] : checked.problems);
  }
  return {};
});

function refuse(code: string, problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const errors = problems.map(({ pointer, reason }) => ({
    code: 'failed_constraint',
    message: reason,
    pointer,
  }));
  throw new Refusal(code, { errors });
}
