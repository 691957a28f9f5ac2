// Colour theme: the system's preference, unless the user chooses another. Pages with a stage are dark there.

export type ThemeChoice = 'auto' | 'light' | 'dark';

const KEY = 'agon-theme';

class Theme {
  choice: ThemeChoice = $state('auto');
  #systemDark = $state(false);
  #stages = $state(0);
  /** Theme of the page, without its stages. */
  page: 'light' | 'dark' = $derived(this.choice === 'auto' ? (this.#systemDark ? 'dark' : 'light') : this.choice);
  /** Theme of the viewer: dark on a stage. */
  current: 'light' | 'dark' = $derived(this.#stages > 0 ? 'dark' : this.page);

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

  /** The page shows a stage until the returned function is called. */
  enterStage(): () => void {
    this.#stages += 1;
    return () => (this.#stages -= 1);
  }
}

export const theme = new Theme();
