import { AgentError } from './agent-error.ts';

export type DefinitionErrorCode = 'invalid-name' | 'repeated-name' | 'invalid-schema' | 'invalid-option';

/** A tool or an option of `generate` that cannot be used as it was written; thrown before anything runs. */
export class DefinitionError extends AgentError<DefinitionErrorCode> {
  readonly tool: string | undefined;

  constructor(code: DefinitionErrorCode, message: string, tool?: string, options?: ErrorOptions) {
    super(code, message, options);
    this.tool = tool;
  }
}
