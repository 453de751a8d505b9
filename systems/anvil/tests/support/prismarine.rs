//! The npm packages of `prismarine-provider-anvil`: another reader of regions, and regions that it is tested on.

use std::path::{Path, PathBuf};
use std::process::Command;

/// How to get them, for whoever is told that something was left out without them.
pub(crate) const HOW_TO_GET: &str = "run `npm ci` in systems/anvil/tests/prismarine, or set VOXTICK_NPM=1";

/// The folder of the script that uses these packages, if they are there or may be fetched: with `VOXTICK_NPM=1`.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../anvil/tests/prismarine");
    let is_there = || folder.join("node_modules/prismarine-provider-anvil").is_dir();
    if !is_there() && std::env::var_os("VOXTICK_NPM").is_some_and(|allowed| allowed == "1") {
        let fetched = Command::new("npm")
            .args(["ci", "--ignore-scripts"])
            .current_dir(&folder)
            .status()
            .expect("npm runs");
        assert!(fetched.success(), "npm could not fetch the packages of {}", folder.display());
    }
    is_there().then_some(folder)
}
