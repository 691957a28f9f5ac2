// Unique element ids. Svelte's `$props.id()` would add a second global to the page.

let count = 0;

export function newId(): string {
  count += 1;
  return `agon-${count}`;
}
