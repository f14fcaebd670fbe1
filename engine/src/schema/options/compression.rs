//! The `compression` option: Cassandra's `CompressionParams`.

use std::ops::RangeInclusive;

use helenus_core::message::ErrorResponse;

use super::OptionMap;
use super::display::JavaDouble;

const PACKAGE: &str = "org.apache.cassandra.io.compress.";
const DEFAULT_CHUNK_KB: &str = "16";

/// The compression of a table that says nothing about it.
pub(super) fn default() -> OptionMap {
    OptionMap::from([
        ("chunk_length_in_kb".into(), DEFAULT_CHUNK_KB.into()),
        ("class".into(), format!("{PACKAGE}LZ4Compressor").into()),
    ])
}

/// Validates the map and writes it in its one form.
pub(super) fn parse(map: &OptionMap) -> Result<OptionMap, ErrorResponse> {
    let disabled = OptionMap::from([("enabled".into(), "false".into())]);
    if map.is_empty() {
        return Ok(disabled);
    }
    let enabled = map
        .get("enabled")
        .is_none_or(|value| value.eq_ignore_ascii_case("true"));
    if !enabled {
        return match map.len() {
            1 => Ok(disabled),
            _ => Err(ErrorResponse::config(
                "If the 'enabled' option is set to false no other options must be specified",
            )),
        };
    }
    let class = map.get("class").ok_or_else(|| {
        ErrorResponse::config("Missing sub-option 'class' for the 'compression' option.")
    })?;
    if class.is_empty() {
        return Err(ErrorResponse::config(
            "The 'class' option must not be empty. To disable compression use 'enabled' : false",
        ));
    }
    let class = if class.contains('.') {
        class.to_string()
    } else {
        format!("{PACKAGE}{class}")
    };
    let own_options: &[&str] = match class.strip_prefix(PACKAGE) {
        Some("LZ4Compressor") => &["lz4_compressor_type", "lz4_high_compressor_level"],
        Some("ZstdCompressor") => &["compression_level"],
        Some("SnappyCompressor" | "DeflateCompressor" | "NoopCompressor") => &[],
        _ => {
            return Err(ErrorResponse::config(format!(
                "Could not create Compression for type {class}"
            )));
        }
    };
    let unknown = map
        .keys()
        .filter(|key| {
            !matches!(
                &***key,
                "class" | "enabled" | "chunk_length_in_kb" | "min_compress_ratio"
            )
        })
        .find(|key| !own_options.contains(&&***key));
    if let Some(unknown) = unknown {
        return Err(ErrorResponse::config(format!(
            "Unknown compression options {unknown}"
        )));
    }
    own(map)?;

    let mut result = map.clone();
    result.remove("enabled");
    result.insert("class".into(), class.into());
    let chunk = map
        .get("chunk_length_in_kb")
        .map_or(DEFAULT_CHUNK_KB, |text| text);
    result.insert(
        "chunk_length_in_kb".into(),
        chunk_length(chunk)?.to_string().into(),
    );
    if let Some(text) = map.get("min_compress_ratio") {
        let ratio: f64 = text
            .trim()
            .parse()
            .map_err(|_| ErrorResponse::config("Invalid value for min_compress_ratio"))?;
        if ratio < 0.0 {
            return Err(ErrorResponse::config("Invalid negative min_compress_ratio"));
        }
        if ratio != 0.0 && (ratio < 1.0 || ratio.is_nan()) {
            return Err(ErrorResponse::config(
                "min_compress_ratio can either be 0 or greater than or equal to 1",
            ));
        }
        match ratio {
            0.0 => result.remove("min_compress_ratio"),
            ratio => result.insert(
                "min_compress_ratio".into(),
                JavaDouble(ratio).to_string().into(),
            ),
        };
    }
    Ok(result)
}

fn chunk_length(text: &str) -> Result<u32, ErrorResponse> {
    let kilobytes: i32 = text
        .parse()
        .map_err(|_| ErrorResponse::config("Invalid value for chunk_length_in_kb"))?;
    match u32::try_from(kilobytes) {
        Ok(kilobytes @ 1..) if !kilobytes.is_power_of_two() => Err(ErrorResponse::config(
            "chunk_length_in_kb must be a power of 2",
        )),
        // Cassandra keeps the length in bytes, as an `int`.
        Ok(kilobytes @ 1..) if kilobytes <= i32::MAX as u32 / 1024 => Ok(kilobytes),
        Ok(1..) => Err(ErrorResponse::config(format!(
            "Value of chunk_length_in_kb is too large ({kilobytes})"
        ))),
        _ => Err(ErrorResponse::config(
            "Invalid negative or null chunk_length_in_kb",
        )),
    }
}

/// Cassandra's range of Zstandard levels.
const ZSTD_LEVELS: RangeInclusive<i32> = -131_072..=22;

/// The options of single compressors.
fn own(map: &OptionMap) -> Result<(), ErrorResponse> {
    if let Some(kind) = map
        .get("lz4_compressor_type")
        .filter(|kind| !matches!(&***kind, "high" | "fast"))
    {
        return Err(ErrorResponse::config(format!(
            "Invalid compressor type '{kind}' specified for LZ4 parameter 'lz4_compressor_type'. Valid options are \
             [high, fast]."
        )));
    }
    let integer = |name: &str, range: RangeInclusive<i32>| match map.get(name) {
        None => Ok(()),
        Some(text) if text.parse().is_ok_and(|level| range.contains(&level)) => Ok(()),
        Some(text) => Err(ErrorResponse::config(format!(
            "Invalid value [{text}] for parameter '{name}'. Value must be between {} and {}.",
            range.start(),
            range.end()
        ))),
    };
    integer("lz4_high_compressor_level", 1..=17)?;
    integer("compression_level", ZSTD_LEVELS)
}
