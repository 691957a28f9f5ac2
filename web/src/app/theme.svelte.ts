// Light or dark: what the reader's machine prefers, unless they chose here.

export type Choice = 'auto' | 'light' | 'dark';

const KEY = 'agon-theme';

class Theme {
  choice: Choice = $state('auto');
  #machine = $state(false);
  /** What is shown. */
  shown: 'light' | 'dark' = $derived(this.choice === 'auto' ? (this.#machine ? 'dark' : 'light') : this.choice);

  start(): void {
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    this.#machine = scheme.matches;
    scheme.addEventListener('change', () => (this.#machine = scheme.matches));
    let kept: string | null = null;
    try {
      kept = localStorage.getItem(KEY);
    } catch {
      // A browser that keeps nothing still shows the page.
    }
    this.choose(kept === 'light' || kept === 'dark' ? kept : 'auto');
  }

  choose(choice: Choice): void {
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
