//! Packs the probes of `helenus conformance`, megabytes of repetitive text, into what the command carries.

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "cli")]
    pack("probes/probes.jsonl", "probes.lz4")?;
    Ok(())
}

#[cfg(feature = "cli")]
fn pack(source: &str, target: &str) -> std::io::Result<()> {
    println!("cargo::rerun-if-changed={source}");
    let folder = |name| {
        std::env::var_os(name)
            .map(std::path::PathBuf::from)
            .ok_or_else(|| std::io::Error::other(name))
    };
    let text = std::fs::read(folder("CARGO_MANIFEST_DIR")?.join(source))?;
    let packed = lz4_flex::block::compress_prepend_size(&text);
    std::fs::write(folder("OUT_DIR")?.join(target), packed)
}
