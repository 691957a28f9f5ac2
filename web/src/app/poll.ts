// Polling.

/** Runs an action at an interval while the page is visible. Returns a function that stops it, for use in an effect. */
export function pollWhileVisible(intervalMs: number, action: () => void): () => void {
  const timer = setInterval(() => {
    if (!document.hidden) action();
  }, intervalMs);
  return () => clearInterval(timer);
}
