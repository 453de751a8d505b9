//! Where real regions are that any machine has.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder `resources` of the crate `fastanvil`, which carries a region of Minecraft 1.19.4.
pub(crate) fn fastanvil_resources() -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            let output = Command::new(env!("CARGO"))
                .args(["metadata", "--format-version", "1", "--manifest-path"])
                .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
                .output()
                .expect("cargo runs");
            let metadata: serde_json::Value =
                serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
            let package = metadata["packages"]
                .as_array()
                .expect("a list of packages")
                .iter()
                .find(|package| package["name"] == "fastanvil")
                .expect("fastanvil is a dependency of these tests");
            let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
            manifest.parent().expect("a folder").join("resources")
        })
        .clone()
}

/// The region of Minecraft 1.19.4: 676 chunks, 225 of them finished and lit. It is region 0, 0.
pub(crate) fn region_1_19_4() -> PathBuf {
    fastanvil_resources().join("1.19.4.mca")
}
