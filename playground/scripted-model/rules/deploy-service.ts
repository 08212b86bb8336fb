import { z } from 'zod';
import { askPerson, type Question } from '../ask-question.ts';
import { tellClosed } from '../describe-outcome.ts';
import { call, latest, type Scene, say } from '../rule.ts';

const WHICH_VERSION: Question = { question: 'Which version?', choices: ['2.4.1', '2.4.0'] };
const WHICH_SERVICE: Question = { question: 'Which service?', choices: ['checkout', 'search', 'shop'] };
const VERSION = /\bv?(\d+(?:\.[\w-]+)+)\b/i;
const Input = z.object({ service: z.string(), version: z.string() });
const Deployed = z.object({ deployed: z.string(), environment: z.string() });

/** Asks to deploy a service: long work that is not idempotent, so that a crash in the middle leaves a question. */
export const deployService: Scene = {
  example: 'Please deploy checkout 2.4.1 to staging.',
  takes: [/\bdeploy/i, /\broll(?:ing)?[\s-]?out\b/i, /\bship\s+[\w-]+\s+v?\d/i],

  play({ words, steps, ruleFor }) {
    const [, named] =
      /\b(?:deploy|roll[\s-]?out|ship)\s+(?:the\s+)?(?:service\s+)?(?!(?:to|it|version)\b)([a-z][\w-]*)/i.exec(
        words,
      ) ?? [];
    const service = named === undefined ? askPerson(steps, WHICH_SERVICE) : { answer: named };
    if ('move' in service) return service.move;
    const [, written] = VERSION.exec(words) ?? [];
    const version = written === undefined ? askPerson(steps, WHICH_VERSION) : { answer: written };
    if ('move' in version) return version.move;
    const environment = /\bprod(?:uction)?\b/i.test(words) ? 'production' : 'staging';

    const deployment = latest(steps, 'deploy_service');
    if (deployment === undefined)
      return call(
        {
          name: 'deploy_service',
          arguments: { service: service.answer, version: version.answer, environment },
        },
        `I ask to deploy ${service.answer} ${version.answer} to ${environment}.`,
        ruleFor('deploy_service'),
      );
    const asked = Input.parse(deployment.input);
    if (deployment.outcome.kind === 'closed')
      return say(tellClosed(`the deployment of ${asked.service} ${asked.version}`, deployment.outcome));
    const ran = Deployed.parse(deployment.outcome.output);
    return say(`${ran.deployed} is deployed to ${ran.environment}.`);
  },
};
