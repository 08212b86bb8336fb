/** A moment in seconds as a date and time input shows it on the clock of this machine; empty for none. */
export function toLocalInput(seconds: number | undefined): string {
  if (seconds === undefined || Number.isNaN(new Date(seconds * 1000).getTime())) return '';
  const moment = new Date(seconds * 1000);
  const two = (number: number) => String(number).padStart(2, '0');
  const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  return `${day}T${two(moment.getHours())}:${two(moment.getMinutes())}`;
}

/** The moment in seconds that a date and time input holds; undefined while it is not whole. */
export function fromLocalInput(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/.test(text)) return undefined;
  const seconds = Math.floor(new Date(text).getTime() / 1000);
  return Number.isNaN(seconds) ? undefined : seconds;
}
