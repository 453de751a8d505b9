//! Prints where a `protoc` is that comes with a crate: `voxelize` needs one to be built.
//!
//! `export PROTOC=$(cargo run --release --features protoc --bin protoc_path)`

fn main() {
    let path = protoc_bin_vendored::protoc_bin_path().expect("the crate has one for this platform");
    println!("{}", path.display());
}
