/** The prefix of the fault suite's keys in Redis. */
export const PREFIX = 'faults:';
