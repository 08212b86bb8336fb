import type { Tool } from '../../agent/tool.ts';
import { askQuestion } from './ask-question.ts';
import { completeTask } from './complete-task.ts';
import { requestForm } from './request-form.ts';
import { waitForCallback } from './wait-for-callback.ts';

/** What the agent can ask of people without any tool of the manifest. */
export const builtIns: readonly Tool[] = [askQuestion, requestForm, waitForCallback, completeTask];
