import { freezeInWords, type HoldingFreeze } from '../../../policy/freezes.ts';
import { ALL_TOOLS, type Freeze, THE_MODEL } from '../../../store/port/workspace.ts';
import { callerNamed } from '../../../tools/callers.ts';
import { describeUnknownTool } from '../../../tools/manifest/problem.ts';
import { readableName } from '../../../tools/presentation/formats.ts';
import { plural } from './format.ts';

/** Names what a freeze is about, within a sentence. */
export function scopeInWords(scope: string): string {
  if (scope === THE_MODEL) return 'the model';
  const caller = callerNamed(scope);
  if (caller !== undefined) return `what ${caller} asks for`;
  return scope === ALL_TOOLS ? 'all actions' : `“${readableName(scope)}”`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function why({ reason }: Pick<Freeze, 'reason'>): string {
  return reason === '' ? '' : ` Reason: ${sentence(reason)}`;
}

/** Every sentence about freezes. */
export const freezeTexts = {
  onlyAdmins: 'Only admins of this app can freeze actions.',
  onlyApprovers: "You can't unfreeze actions. Ask an admin of this app.",
  frozen: (scope: string, running: readonly string[]) =>
    `Frozen: ${scopeInWords(scope)}. Nothing new starts until it's unfrozen. ${freezeTexts.running(running)}`,
  withModel: ' The model is frozen too: it answers nobody until then.',
  onlyWithAll: 'The model can only be frozen with all actions: /countersign freeze all --model [reason].',
  modelHeld: (freeze: Freeze) =>
    `Paused: an admin froze all actions and the model.${why(freeze)} I'll go on here once that's over.`,
  running: (titles: readonly string[]) =>
    titles.length === 0
      ? 'Nothing is running.'
      : `${plural(titles.length, 'action')} still running, and will finish: ${titles.join(', ')}.`,
  alreadyFrozen: (scope: string, running: readonly string[]) =>
    `Already frozen: ${scopeInWords(scope)}. ${freezeTexts.running(running)}`,
  unfrozen: (scope: string) =>
    `Unfrozen: ${scopeInWords(scope)}. Approved actions start now, unless their approval is too old.`,
  notFrozen: (scope: string) =>
    scope === ALL_TOOLS ? 'Nothing is frozen.' : `There is no freeze of ${scopeInWords(scope)}.`,
  unknownTool: (name: string, tools: readonly string[]) =>
    `Nothing is frozen: ${sentence(describeUnknownTool(name, tools))} To freeze everything, use /countersign freeze all [reason].`,
  unknownFreeze: (freezes: readonly Freeze[]) =>
    freezes.length === 0
      ? 'Nothing is frozen.'
      : `No freeze has that name. Frozen: ${freezes.map(({ scope }) => scopeInWords(scope)).join(', ')}.`,
  voted: (scope: string, votes: number, quorum: number) =>
    `${votes} of ${quorum} approvals to unfreeze ${scopeInWords(scope)}. The other approvers have been asked.`,
  changed: 'This freeze has ended. The Home tab lists the freezes still in effect.',
  card: {
    text: 'Unfreeze ',
    tail: (freeze: Freeze, quorum: number) =>
      `? ${freeze.votes.length} of ${quorum} approvals.${why(freeze)} Frozen by `,
    button: 'Unfreeze',
  },
  told: {
    frozen: (scope: string, reason: string, withModel = false) =>
      `Frozen: ${scopeInWords(scope)}${withModel ? ' and the model' : ''}.${why({ reason })} By `,
    unfrozen: (scope: string) => `Unfrozen: ${scopeInWords(scope)}. By `,
  },
  onCard: (freeze: Freeze | HoldingFreeze) =>
    'name' in freeze
      ? `Frozen: ${sentence(freezeInWords(freeze))} This action does not start then. Approvals still count.`
      : `Frozen: ${freeze.scope === ALL_TOOLS ? 'no action starts' : 'this action does not start'} until it's unfrozen. Approvals still count.${why(freeze)}`,
  held: (freeze: Freeze | HoldingFreeze) =>
    'name' in freeze
      ? `On hold: ${sentence(freezeInWords(freeze))} It starts after that.`
      : `On hold: ${freeze.scope === ALL_TOOLS ? 'actions are' : 'this action is'} frozen.${why(freeze)} It starts once unfrozen.`,
  denied: (freeze: Pick<Freeze, 'reason'>) => `Actions are frozen.${why(freeze)}`,
  home: {
    title: 'Frozen',
    by: 'By ',
    since: ', since ',
    others: (count: number) => ` · ${plural(count, 'other freeze')}`,
    votes: (votes: number, quorum: number) => ` · ${votes} of ${quorum} approvals to unfreeze`,
  },
  terminal: {
    line: ({ scope, who, reason }: Freeze) =>
      `frozen: ${scope === ALL_TOOLS ? 'all tools' : scope === THE_MODEL ? 'the model' : scope} by ${who}: ${reason}`,
  },
} as const;
