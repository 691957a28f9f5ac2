// Names for elements that refer to each other. Svelte's own would leave a second global in the page.

let count = 0;

export function newId(): string {
  count += 1;
  return `agon-${count}`;
}
