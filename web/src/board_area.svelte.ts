// The area of the page that a viewer takes: the theme, the room that the window leaves for it, full screen, and the reader's choices.

import { remember, remembered } from './remember';

/** Largest part of the page's own padding that is kept free below a viewer, in pixels. */
const MAX_BELOW = 24;

/** Below this height a viewer would be too small, so it gets the whole window and the reader scrolls to it. In pixels. */
const MIN_ROOM = 384;

/** How a viewer gets its height: from the window, or from the element that it fills. */
export type Fit = 'window' | 'box';

export class BoardArea {
  readonly root: HTMLElement;
  readonly fit: Fit;
  dark = $state(false);
  reducedMotion = $state(false);
  /** Whether the viewer fills the screen, or the window if the browser does not allow full screen. */
  full = $state(false);
  /** Height of the page above and below the viewer, in pixels. */
  above = $state(0);
  below = $state(0);
  sound = $state(remembered('sound'));
  autoplay = $state(remembered('autoplay'));

  constructor(root: HTMLElement) {
    this.root = root;
    this.fit = root.dataset.fit === 'box' ? 'box' : 'window';
  }

  /** Whether playback starts by itself: by the choice of the reader, or by the page unless the reader prefers less motion. */
  get startsPlaying(): boolean {
    const { autoplay } = this.root.dataset;
    if (autoplay === 'off') return false;
    return this.autoplay || (autoplay !== undefined && !this.reducedMotion);
  }

  setSound(on: boolean): void {
    this.sound = on;
    remember('sound', on);
  }

  setAutoplay(on: boolean): void {
    this.autoplay = on;
    remember('autoplay', on);
  }

  toggleFull(): void {
    if (this.full) {
      this.leaveFull();
      return;
    }
    this.full = true;
    // Without permission, as in some frames and on some phones, the viewer fills the window instead.
    this.root.requestFullscreen?.().catch(() => undefined);
  }

  leaveFull(): void {
    this.full = false;
    if (document.fullscreenElement === this.root) void document.exitFullscreen();
  }

  /** Follows the window, the page and the preferences of the system. Returns the function that ends it. */
  start(): () => void {
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const motion = matchMedia('(prefers-reduced-motion: reduce)');
    const { root } = this;
    const updateMedia = (): void => {
      this.dark = root.dataset.theme === undefined ? scheme.matches : root.dataset.theme === 'dark';
      this.reducedMotion = motion.matches;
    };
    const onFullChange = (): void => {
      if (document.fullscreenElement === null) this.full = false;
    };
    let request = 0;
    const measureSoon = (): void => {
      cancelAnimationFrame(request);
      request = requestAnimationFrame(() => this.measure());
    };
    // The page above the viewer can grow at any time, for example when a table arrives.
    const sizes = new ResizeObserver(measureSoon);
    // The page can change `data-theme` at any time.
    const theme = new MutationObserver(updateMedia);
    updateMedia();
    this.measure();
    sizes.observe(document.body);
    if (root.parentElement) sizes.observe(root.parentElement);
    theme.observe(root, { attributes: true, attributeFilter: ['data-theme'] });
    scheme.addEventListener('change', updateMedia);
    motion.addEventListener('change', updateMedia);
    window.addEventListener('resize', measureSoon);
    document.addEventListener('fullscreenchange', onFullChange);
    return () => {
      cancelAnimationFrame(request);
      sizes.disconnect();
      theme.disconnect();
      scheme.removeEventListener('change', updateMedia);
      motion.removeEventListener('change', updateMedia);
      window.removeEventListener('resize', measureSoon);
      document.removeEventListener('fullscreenchange', onFullChange);
    };
  }

  private measure(): void {
    if (this.full || this.fit === 'box') return;
    const { root } = this;
    const padding = root.parentElement ? parseFloat(getComputedStyle(root.parentElement).paddingBottom) : 0;
    const above = Math.max(0, Math.round(root.getBoundingClientRect().top + window.scrollY));
    const hasRoom = window.innerHeight - above - MAX_BELOW >= MIN_ROOM;
    this.above = hasRoom ? above : 0;
    this.below = hasRoom ? Math.ceil(Math.min(MAX_BELOW, padding || 0)) : MAX_BELOW;
  }
}
