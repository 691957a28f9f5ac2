// Colour theme: the system's preference, unless the user chooses another.

export type ThemeChoice = 'auto' | 'light' | 'dark';

const KEY = 'agon-theme';

class Theme {
  choice: ThemeChoice = $state('auto');
  #systemDark = $state(false);
  /** Theme in use. */
  current: 'light' | 'dark' = $derived(this.choice === 'auto' ? (this.#systemDark ? 'dark' : 'light') : this.choice);

  start(): void {
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    this.#systemDark = scheme.matches;
    scheme.addEventListener('change', () => (this.#systemDark = scheme.matches));
    let saved: string | null = null;
    try {
      saved = localStorage.getItem(KEY);
    } catch {
      // The browser forbids storage. The page works without it.
    }
    this.choose(saved === 'light' || saved === 'dark' ? saved : 'auto');
  }

  choose(choice: ThemeChoice): void {
    this.choice = choice;
    if (choice === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    try {
      if (choice === 'auto') localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, choice);
    } catch {
      // As above.
    }
  }
}

export const theme = new Theme();
