// The games are the folders beside this file; the name of a folder is the id of its game. A game consists of these files:
//   view.ts         how to describe a turn; its default export is a `GameView`
//   Board.svelte    draws a frame
//   Icon.svelte     small picture for the app
//   Picture.svelte  large picture for the app
//   accent.ts       colour of the game in the app
//   texts.ts        texts of the game
//   input.ts        where a person gives answers on the board; its default export is a `GameInput` (optional)
// `views.ts` (for the viewer), `icons.ts`, `pictures.ts` and `accents.ts` (for the app) find them by their names. A test reports missing files by name.

/** Modules by game id, from the result of `import.meta.glob`. */
export const byGame = <Part>(modules: Record<string, Part>): Map<string, Part> =>
  new Map(Object.entries(modules).map(([path, part]) => [path.split('/')[1] ?? path, part]));
