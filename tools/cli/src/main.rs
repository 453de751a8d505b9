//! voxtick
fn main() {}
