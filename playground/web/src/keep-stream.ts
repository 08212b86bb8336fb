const MOST_KEPT = 3;

/**
 * Whether this window may keep its event stream while it is hidden. A browser opens six connections to one server and no
 * more, so that with many windows the hidden ones have to let go of theirs, or nobody could send anything any longer.
 */
export async function mayKeepStream(): Promise<boolean> {
  for (let place = 0; place < MOST_KEPT; place += 1) if (await takePlace(`stream-${place}`)) return true;
  return false;
}

function takePlace(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    void navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      // Held until the window is closed.
      return lock === null ? undefined : new Promise(() => undefined);
    });
  });
}
