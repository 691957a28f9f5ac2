// Work that can wait until an element comes into view.

/** An attachment that calls `show` once, when the element is in or near the window. */
export const whenVisible =
  (show: () => void) =>
  (element: Element): (() => void) => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        observer.disconnect();
        show();
      },
      { rootMargin: '200px' },
    );
    observer.observe(element);
    return () => observer.disconnect();
  };
