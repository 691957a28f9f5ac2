//! The viewer is built by npm, not by cargo: says so where it is missing.
#![allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]

use std::path::Path;

fn main() {
    let dist = Path::new("../../web/dist");
    println!("cargo::rerun-if-changed=../../web/dist");
    for file in ["viewer.js", "viewer.css"] {
        println!("cargo::rerun-if-changed=../../web/dist/{file}");
        if !dist.join(file).is_file() {
            println!(
                "cargo::error=web/dist/{file} is missing: the replay viewer is not built; run `make web`"
            );
        }
    }
}
