// Choices of the reader that last longer than a page. A browser can forbid storage; then nothing is remembered.

const PREFIX = 'agon.viewer.';

export function remembered(choice: string): boolean {
  try {
    return localStorage.getItem(PREFIX + choice) === 'on';
  } catch {
    return false;
  }
}

export function remember(choice: string, on: boolean): void {
  try {
    if (on) localStorage.setItem(PREFIX + choice, 'on');
    else localStorage.removeItem(PREFIX + choice);
  } catch {
    // The choice holds for this page only.
  }
}
