export default {
  compilerOptions: {
    runes: true,
    // `Agon` must be the only global of the viewer.
    discloseVersion: false,
  },
};
