// The bot loads its tools apart from itself. These are the worker's own, so that a point in a tool is a point of its worker.
const { TOOLS } = globalThis.countersignFaults;
export const [
  charge,
  credit,
  erase,
  lapse,
  linger,
  waver,
  favored,
  deputed,
  sealed,
  quintet,
  score,
  briefQuintet,
  briefScore,
  note,
  mark,
  falter,
  garble,
  capped,
] = TOOLS;
