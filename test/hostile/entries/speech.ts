import { NotPossible } from '../../../playground/slack/people/not-possible.ts';
import { CAST } from '../../stories/support.ts';
import { PAYLOAD, TEXTS } from '../corpus.ts';
import { playAll, startStage } from '../stage.ts';

/** Said to the bot by a person; the model repeats all that it has heard. */
export async function playMessages() {
  const stage = await startStage({ reply: (_row, { said }) => ({ text: [said] }) });
  const outcomes = await playAll(TEXTS, async ({ text }, row) => {
    let echo: string;
    try {
      const thread = stage.begin(row, text);
      const isEcho = (reply: { readonly text: string }) => reply.text.includes(PAYLOAD);
      const said = () => stage.repliesIn(thread).find(isEcho)?.text;
      echo = await stage.workspace.until(said, { what: 'the echo' });
    } catch (error) {
      if (error instanceof NotPossible) return 'Slack does not send it';
      throw error;
    }
    const heard = stage.model.requests
      .flatMap(({ messages }) => messages)
      .find(({ role, content }) => role === 'user' && String(content).includes(`row ${row} `));
    const isEscaped = echo.split('\\u{').length > text.split('\\u{').length;
    const how = String(heard?.content).endsWith(`row ${row} ${text.trim()}`) ? 'as it is' : 'in words';
    return `heard ${how}, and its echo is dead${isEscaped ? ' and escaped' : ''}`;
  });
  await stage.expectUnharmed();
  return { 'a message': outcomes };
}

/** Typed after the slash command. */
export async function playCommands() {
  const stage = await startStage({ reply: () => ({ text: PAYLOAD }) });
  stage.begin(0);
  const outcomes = await playAll(TEXTS, async ({ text }) => {
    const before = stage.workspace.ephemeralsFor(CAST.alice).length;
    await stage.workspace.as(CAST.alice).command('/countersign', text);
    const notice = await stage.workspace.until(
      () => stage.workspace.ephemeralsFor(CAST.alice).slice(before).find(Boolean),
      { what: 'the answer to the command' },
    );
    return notice.text.startsWith('Try one of these:') ? 'answered with how it is used' : notice.text;
  });
  await stage.expectUnharmed();
  return { 'a slash command': outcomes };
}
