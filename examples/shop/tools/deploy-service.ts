import { setTimeout as sleep } from 'node:timers/promises';
import { defineTool } from 'countersign';
import { z } from 'zod';
import { openLedger } from '../ledger.ts';

const STEPS = ['building', 'testing', 'rolling out to 10 %', 'rolling out to 100 %', 'watching'];
const STEP_MS = 3_000;

/** The version of every service before its first deployment. */
const FIRST_VERSION = '2.3.0';
const Deployed = z.object({ deployed: z.string(), environment: z.string(), previous: z.string() });

/** Pretends to deploy a service: a long action that reports progress. A real tool would call your pipeline here. */
export const deployService = defineTool(
  {
    name: 'deploy_service',
    description: 'Deploys a version of a service to an environment.',
    inputSchema: z.object({
      service: z.string().min(1),
      version: z.string().min(1),
      environment: z.enum(['staging', 'production']).default('staging'),
    }),
    outputSchema: Deployed,
    preview: async ({ service, version, environment }) => ({
      before: `${service} ${(await openLedger().version(service, environment)) ?? FIRST_VERSION}`,
      after: `${service} ${version}`,
    }),
    undo: ({ service, environment }, output) => {
      const version = Deployed.safeParse(output).data?.previous;
      return version === undefined
        ? undefined
        : { tool: 'deploy_service', input: { service, version, environment } };
    },
  },
  async ({ service, version, environment }, { progress, signal }) => {
    for (const [index, step] of STEPS.entries()) {
      progress(step, index / STEPS.length);
      await sleep(STEP_MS, undefined, { signal });
    }
    const ledger = openLedger();
    const previous = (await ledger.version(service, environment)) ?? FIRST_VERSION;
    await ledger.setVersion(service, environment, version);
    return { deployed: `${service}@${version}`, environment, previous };
  },
);
