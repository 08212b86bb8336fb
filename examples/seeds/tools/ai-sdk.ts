import { defineInterrupt, defineTool } from 'countersign';
import { z } from 'zod';

const APPROVAL = { YES: 'Yes, confirmed.', NO: 'No, denied.' } as const;
const WEATHER = ['sunny', 'cloudy', 'rainy', 'snowy'];

/** The recipe's tool without `execute`: what the person says is its output. */
export const confirmWeather = defineInterrupt({
  name: 'confirmWeather',
  description: 'ask whether the weather in a given city may be looked up',
  inputSchema: z.object({ city: z.string() }),
  outputSchema: z.enum([APPROVAL.YES, APPROVAL.NO]),
});

/** The recipe's tool with its two halves in one place: it needs a yes, and then it runs. */
export const getWeatherInformation = defineTool(
  {
    name: 'getWeatherInformation',
    description: 'show the weather in a given city to the user',
    inputSchema: z.object({ city: z.string() }),
    outputSchema: z.string(),
    needsApproval: true,
  },
  async ({ city }) => `The weather in ${city} is ${WEATHER[city.length % WEATHER.length]}.`,
);

/** A tool that needs no confirmation. */
export const getLocalTime = defineTool(
  {
    name: 'getLocalTime',
    description: 'get the local time for a specified location',
    inputSchema: z.object({ location: z.string() }),
    outputSchema: z.string(),
    effect: 'none',
  },
  async () => '10am',
);
