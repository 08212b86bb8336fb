import { z } from 'zod';
import { askQuestion, type Question } from '../ask-question.ts';
import { describeOutcome } from '../describe-outcome.ts';
import { callTools, latestCall, type Rule, reply } from '../rule.ts';

const WHICH_VERSION: Question = { question: 'Which version?', choices: ['2.4.1', '2.4.0'] };
const WHICH_SERVICE: Question = { question: 'Which service?', choices: ['checkout', 'search', 'shop'] };
const VERSION = /\bv?(\d+(?:\.[\w-]+)+)\b/i;
const Input = z.object({ service: z.string(), version: z.string() });
const Deployed = z.object({ deployed: z.string(), environment: z.string() });

/** Deploys a service: long and not idempotent, so that a crash in the middle leaves an unknown outcome. */
export const deployService: Rule = {
  example: 'Please deploy checkout 2.4.1 to staging.',
  tool: 'deploy_service',
  patterns: [/\bdeploy/i, /\broll(?:ing)?[\s-]?out\b/i, /\bship\s+[\w-]+\s+v?\d/i],

  next({ text, calls, approvalNote }) {
    const [, named] =
      /\b(?:deploy|roll[\s-]?out|ship)\s+(?:the\s+)?(?:service\s+)?(?!(?:to|it|version)\b)([a-z][\w-]*)/i.exec(
        text,
      ) ?? [];
    const service = named === undefined ? askQuestion(calls, WHICH_SERVICE) : { answer: named };
    if ('step' in service) return service.step;
    const [, written] = VERSION.exec(text) ?? [];
    const version = written === undefined ? askQuestion(calls, WHICH_VERSION) : { answer: written };
    if ('step' in version) return version.step;
    const environment = /\bprod(?:uction)?\b/i.test(text) ? 'production' : 'staging';

    const deployment = latestCall(calls, 'deploy_service');
    if (deployment === undefined)
      return callTools(
        {
          name: 'deploy_service',
          arguments: { service: service.answer, version: version.answer, environment },
        },
        `I'd like to deploy ${service.answer} ${version.answer} to ${environment}.`,
        approvalNote('deploy_service'),
      );
    const asked = Input.parse(deployment.input);
    if (deployment.outcome.kind === 'closed')
      return reply(
        describeOutcome(`the deployment of ${asked.service} ${asked.version}`, deployment.outcome),
      );
    const ran = Deployed.parse(deployment.outcome.output);
    return reply(`Deployed ${ran.deployed} to ${ran.environment}.`);
  },
};
