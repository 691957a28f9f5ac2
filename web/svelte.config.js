export default {
  compilerOptions: {
    runes: true,
    // The viewer leaves one global in the page, `Agon`, and no other.
    discloseVersion: false,
  },
};
