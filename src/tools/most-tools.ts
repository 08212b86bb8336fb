/** OpenAI refuses a request with more tools, so that with one too many the agent would not answer at all. */
export const MOST_TOOLS = 128;
