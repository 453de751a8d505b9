//! A Linear file: head, buckets, streams, of both versions.
#![no_main]

#[path = "../../systems/anvil/tests/support/targets.rs"]
#[expect(dead_code, reason = "the other targets have binaries of their own")]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::linear(bytes));
