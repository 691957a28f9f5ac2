// What is looked at again and again, while somebody looks.

/** Does something every so often while the page is in view; gives what ends it, as an effect wants it. */
export function whileSeen(everyMs: number, act: () => void): () => void {
  const timer = setInterval(() => {
    if (!document.hidden) act();
  }, everyMs);
  return () => clearInterval(timer);
}
