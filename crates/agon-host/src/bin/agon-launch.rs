//! The launcher as a separate program, for tests. `agon` re-executes itself instead.

fn main() {
    agon_host::sandbox::run_launcher_if_requested();
}
