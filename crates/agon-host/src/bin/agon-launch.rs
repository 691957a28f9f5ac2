//! The launcher alone, for tests: what `agon` does when it starts itself again.

fn main() {
    agon_host::sandbox::run_launcher_if_requested();
}
