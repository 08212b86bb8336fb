/** What the keys of the faults begin with in Redis. */
export const PREFIX = 'faults:';
