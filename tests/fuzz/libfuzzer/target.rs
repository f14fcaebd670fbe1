//! The target that `HELENUS_TARGET` names, under libFuzzer.

#![no_main]

use std::sync::LazyLock;

use helenus_fuzz::{TARGETS, Target};
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<&'static Target> = LazyLock::new(|| {
    let name = std::env::var("HELENUS_TARGET").unwrap_or_default();
    helenus_fuzz::target(&name).unwrap_or_else(|| {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        panic!("HELENUS_TARGET names none of {}", names.join(", "))
    })
});

fuzz_target!(|data: &[u8]| (TARGET.run)(data));
