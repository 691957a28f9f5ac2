// The part of a board that is shown, and the gestures that change it: wheel, pinch and drag.

import { clampView, panBy, WHOLE, wheelFactor, ZOOM_STEP, zoomAt, type Size, type ZoomView } from './zoom';

/** Distance in pixels from which a press is a drag. */
const DRAG_DISTANCE = 4;

export class Zoom {
  view: ZoomView = $state.raw(WHOLE);
  /** Size of the board on the page, in pixels. */
  private size: Size = { width: 1, height: 1 };

  get zoomed(): boolean {
    return this.view.scale > 1;
  }

  /** Zooms around the centre. */
  by(direction: 1 | -1): void {
    this.view = zoomAt(this.view, direction > 0 ? ZOOM_STEP : 1 / ZOOM_STEP, this.size.width / 2, this.size.height / 2, this.size);
  }

  reset(): void {
    this.view = WHOLE;
  }

  /** Listens to gestures on an element that has the size of the board. An attachment of Svelte. */
  gestures = (element: HTMLElement): (() => void) => {
    const pointers = new Map<number, PointerEvent>();
    let dragged = 0;
    const measure = new ResizeObserver(() => {
      this.size = { width: element.clientWidth, height: element.clientHeight };
      this.view = clampView(this.view, this.size);
    });
    const place = (event: { clientX: number; clientY: number }): [number, number] => {
      const box = element.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const onWheel = (event: WheelEvent): void => {
      // A wheel without Ctrl scrolls a page that can be scrolled. A pinch on a trackpad arrives as a wheel with Ctrl.
      const page = document.documentElement;
      const pageScrolls = page.scrollHeight > page.clientHeight + 1 && !document.fullscreenElement;
      if (!event.ctrlKey && !this.zoomed && pageScrolls) return;
      event.preventDefault();
      this.view = zoomAt(this.view, wheelFactor(event.deltaY, event.deltaMode), ...place(event), this.size);
    };
    const onDown = (event: PointerEvent): void => {
      if (event.button !== 0) return;
      pointers.set(event.pointerId, event);
      dragged = 0;
    };
    const onMove = (event: PointerEvent): void => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const other = [...pointers.values()].find((one) => one.pointerId !== event.pointerId);
      const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
      pointers.set(event.pointerId, event);
      if (other) {
        const distance = (one: PointerEvent): number => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
        const middle = { clientX: (event.clientX + other.clientX) / 2, clientY: (event.clientY + other.clientY) / 2 };
        const zoomed = zoomAt(this.view, distance(event) / Math.max(1, distance(before)), ...place(middle), this.size);
        this.view = panBy(zoomed, dx / 2, dy / 2, this.size);
        return;
      }
      if (!this.zoomed) return;
      dragged += Math.abs(dx) + Math.abs(dy);
      if (dragged > DRAG_DISTANCE && !element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
      this.view = panBy(this.view, dx, dy, this.size);
    };
    const onUp = (event: PointerEvent): void => void pointers.delete(event.pointerId);
    const onDouble = (event: MouseEvent): void => {
      if (this.zoomed) this.reset();
      else this.view = zoomAt(this.view, ZOOM_STEP ** 3, ...place(event), this.size);
    };
    measure.observe(element);
    element.addEventListener('wheel', onWheel, { passive: false });
    element.addEventListener('pointerdown', onDown);
    element.addEventListener('pointermove', onMove);
    element.addEventListener('dblclick', onDouble);
    for (const end of ['pointerup', 'pointercancel', 'pointerleave'] as const) element.addEventListener(end, onUp);
    return () => {
      measure.disconnect();
      element.removeEventListener('wheel', onWheel);
      element.removeEventListener('pointerdown', onDown);
      element.removeEventListener('pointermove', onMove);
      element.removeEventListener('dblclick', onDouble);
      for (const end of ['pointerup', 'pointercancel', 'pointerleave'] as const) element.removeEventListener(end, onUp);
    };
  };
}
