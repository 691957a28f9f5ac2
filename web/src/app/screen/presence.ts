// What a page on a projector needs from the browser: a screen that stays on, a hidden pointer, full screen.

/** The pointer and the controls disappear after this time without movement. */
export const POINTER_HIDE_AFTER_MS = 3_000;

/** Keeps the screen on while the page is visible, where the browser can. Returns a function that ends it. */
export function keepAwake(): () => void {
  let lock: WakeLockSentinel | undefined;
  let stopped = false;
  const request = async (): Promise<void> => {
    if (stopped || document.hidden || (lock && !lock.released)) return;
    try {
      const got = await navigator.wakeLock.request('screen');
      if (stopped) void got.release();
      else lock = got;
    } catch {
      // Not allowed, for example on a low battery. The screen then follows the settings of the system.
    }
  };
  // Browsers without it, and pages without HTTPS.
  if (!('wakeLock' in navigator)) return () => undefined;
  // The browser releases the lock while the page is hidden.
  const again = (): void => void request();
  document.addEventListener('visibilitychange', again);
  again();
  return () => {
    stopped = true;
    document.removeEventListener('visibilitychange', again);
    void lock?.release();
  };
}

/** Reports whether the pointer was moved recently. Returns a function that ends it. */
export function watchPointer(onChange: (active: boolean) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const moved = (): void => {
    if (timer === undefined) onChange(true);
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      onChange(false);
    }, POINTER_HIDE_AFTER_MS);
  };
  const kinds = ['pointermove', 'pointerdown'];
  for (const kind of kinds) window.addEventListener(kind, moved, { passive: true });
  return () => {
    clearTimeout(timer);
    for (const kind of kinds) window.removeEventListener(kind, moved);
  };
}

export const isFullScreen = (): boolean => document.fullscreenElement !== null;

/** Enters or leaves full screen. Browsers allow it only after a key or a click. */
export async function toggleFullScreen(): Promise<void> {
  try {
    if (isFullScreen()) await document.exitFullscreen();
    else await document.documentElement.requestFullscreen();
  } catch {
    // The browser or its policy forbids it. F11 still works.
  }
}
