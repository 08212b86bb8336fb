import { TEXTS, type TextName } from './corpus.ts';

const INVISIBLE: readonly TextName[] = [
  'right-to-left override',
  'direction isolates',
  'zero-width characters',
  'tag characters',
  'variation selectors',
  'blank characters',
  'lone surrogates',
  'null byte',
  'control characters',
  'carriage return',
];
/** Shown escaped; letters that look like others are, too. */
const HIDDEN: readonly TextName[] = [...INVISIBLE, 'homoglyphs'];
const VISIBLE: readonly TextName[] = [
  'composed and decomposed letters',
  'mention of a person',
  'mention of everybody',
  'mention of a group',
  'link to a channel',
  'masked link',
  'date that is a link',
  'bare link',
  'Markdown link',
  'Markdown image',
  'Markdown reference',
  'formatting',
  'code fence',
  'emoji shortcodes',
  'HTML',
  'entities',
  'forged signature',
  'forged end of a value',
  'forged end of a quote',
];
/** Text that looks like one of our escapes has its backslash escaped. */
const FORGED: TextName = 'forged notice';
const LONG: readonly TextName[] = [
  'combining flood',
  '200 newlines',
  '300 spaces',
  'brackets without end',
  'very long word',
  'a megabyte',
];
const HUGE: TextName = 'a megabyte';
const ALL_TEXTS: readonly TextName[] = TEXTS.map(({ name }) => name);

const textsBut = (...left: readonly TextName[]) => ALL_TEXTS.filter((name) => !left.includes(name));

type Texts = Readonly<Record<string, readonly TextName[]>>;

const HALF: TextName = 'lone surrogates';
/** Characters that nobody who reviews a manifest would see. */
const UNREVIEWABLE: readonly TextName[] = [
  'right-to-left override',
  'direction isolates',
  'zero-width characters',
  'tag characters',
  'blank characters',
];
const NO_NAME: Texts = {
  'refused: invisible character': UNREVIEWABLE,
  'refused: a name of 1 to 64': textsBut(...UNREVIEWABLE, HUGE),
  'refused: a manifest has at most': [HUGE],
};
/** A field's name cannot hold half a character, and a schema is short. */
const NO_FORM: Texts = {
  'refused: no schema': [HALF],
  'refused: too long': ['brackets without end', 'very long word', HUGE],
};
const QUOTED: Texts = {
  'shown as it is': VISIBLE,
  'shown escaped': [...HIDDEN, FORGED],
  'cut, and said so': LONG,
};

/** Together with the title of the tool these do not fit into a status line. */
const LONG_FOR_A_STATUS: readonly TextName[] = [
  'Markdown link',
  'HTML',
  'forged signature',
  'formatting',
  'tag characters',
  'direction isolates',
  'homoglyphs',
];

/** Everything hostile that is written, by entry and outcome; nothing of it is alive, and nothing runs that was not signed. */
export const TEXT_TABLE = {
  'a message': {
    'heard as it is, and its echo is dead and escaped': [...INVISIBLE, 'combining flood'],
    'heard as it is, and its echo is dead': textsBut(
      ...INVISIBLE,
      'combining flood',
      'mention of everybody',
      'masked link',
      'forged signature',
      HUGE,
    ),
    'heard in words, and its echo is dead': ['mention of everybody', 'masked link', 'forged signature'],
    'Slack does not send it': [HUGE],
  },
  'a slash command': { 'answered with how it is used': ALL_TEXTS },
  'an argument and its name': {
    'shown as it is': [...VISIBLE, FORGED],
    'shown escaped': HIDDEN,
    'in the full view only': LONG,
  },
  "the model's words beside a call": {
    ...QUOTED,
    // All its lines but the first and the last are empty.
    'shown as it is': [...VISIBLE, '200 newlines'],
    'cut, and said so': LONG.filter((name) => name !== '200 newlines'),
  },
  'the reason of a rejection': {
    ...QUOTED,
    'cut, and said so': ['combining flood', '200 newlines', '300 spaces'],
    'Slack does not take it': ['brackets without end', 'very long word', HUGE],
  },
  'a text in the edit form': {
    'shown as it is': VISIBLE,
    'shown escaped': [...HIDDEN, FORGED],
    'in the full view only': ['combining flood', '300 spaces', '200 newlines'],
    'Slack does not take it': ['brackets without end', 'very long word', HUGE],
  },
  'a question and its choices': {
    'shown as it is': VISIBLE,
    'shown escaped': [...HIDDEN, FORGED, 'combining flood', '300 spaces', '200 newlines'],
    'cut, and said so': ['brackets without end', 'very long word', HUGE],
  },
  'an answer in own words': {
    ...QUOTED,
    'cut, and said so': ['combining flood', '200 newlines', '300 spaces'],
    'Slack does not take it': ['brackets without end', 'very long word', HUGE],
  },
  'a form': {
    'shown as it is': VISIBLE,
    'shown escaped': [...HIDDEN.filter((name) => name !== HALF), FORGED],
    'cut, and said so': ['combining flood', '200 newlines', '300 spaces'],
    ...NO_FORM,
  },
  'a number in a form': {
    'refused: is not a number': textsBut(HALF, 'brackets without end', 'very long word', HUGE),
    ...NO_FORM,
  },
  'a value in a form': {
    'shown as it is': VISIBLE,
    'shown escaped': [...HIDDEN.filter((name) => name !== HALF), FORGED],
    'cut, and said so': ['combining flood', '200 newlines', '300 spaces'],
    ...NO_FORM,
  },
  'a form that is no schema': {
    'refused, and said in plain words': textsBut(HUGE),
    'refused: too long': [HUGE],
  },
  'the output of a tool': {
    'shown as it is': [...VISIBLE, '200 newlines'],
    'shown escaped': [...HIDDEN, FORGED, ...LONG.filter((name) => name !== HUGE && name !== '200 newlines')],
    'done, and its output is refused': [HUGE],
  },
  'the error of a tool': {
    'shown as it is': VISIBLE,
    'shown escaped': [...HIDDEN, FORGED],
    'cut, and said so': LONG,
  },
  'the progress of a tool': {
    'shown as it is': VISIBLE.filter((name) => !LONG_FOR_A_STATUS.includes(name)),
    'shown escaped': [...HIDDEN.filter((name) => !LONG_FOR_A_STATUS.includes(name)), FORGED],
    'cut, and said so': [...LONG, ...LONG_FOR_A_STATUS],
  },
  'the result of a task': { 'told in a reply that is dead': ALL_TEXTS },
  'the description of a module': QUOTED,
  'the description of an HTTP tool': QUOTED,
  'the description of an MCP tool': QUOTED,
  'the name of an MCP tool': { 'left out': ALL_TEXTS },
  'the name of a tool that the model invents': { 'refused: there is no such tool': ALL_TEXTS },
  'what a call-back is for': QUOTED,
  'the text of a report': {
    ...QUOTED,
    'cut, and said so': LONG.filter((name) => name !== HUGE),
    'refused with 413': [HUGE],
  },
  'the manifest, as it is': {
    'refused: invisible character': UNREVIEWABLE,
    'refused: not plain text': ['null byte', 'control characters'],
    'taken as data': textsBut(...UNREVIEWABLE, 'null byte', 'control characters', HUGE),
    'refused: a manifest has at most': [HUGE],
  },
  'the manifest, in escapes': { 'taken as data': textsBut(HUGE), 'refused: a manifest has at most': [HUGE] },
  'the name of a tool in the manifest': NO_NAME,
  'the name of a policy in the manifest': NO_NAME,
} satisfies Readonly<Record<string, Texts>>;
