/**
 * Whether an attempt may still take effect. One whose start was answered only after its time of silence was over may have been given
 * up meanwhile, by people who saw that nothing had happened, and another may be running: whoever learns so late that it may begin must not.
 */
export function isInTime(sentAt: number, silenceMs: number): boolean {
  return performance.now() - sentAt < silenceMs;
}
