//! How reports and summaries become JSON: times as whole nanoseconds in fields ending in `_ns`,
//! hashes as 16 hexadecimal digits (a JSON number would lose bits), named figures as objects.

use std::time::Duration;

use serde::ser::{SerializeMap, Serializer};

use crate::clock;

pub(crate) fn nanoseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(clock::nanoseconds(*duration))
}

pub(crate) fn optional_nanoseconds<S: Serializer>(
    duration: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match duration {
        Some(duration) => nanoseconds(duration, serializer),
        None => serializer.serialize_none(),
    }
}

pub(crate) fn optional_hash<S: Serializer>(hash: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    match hash {
        Some(hash) => serializer.collect_str(&format_args!("{hash:016x}")),
        None => serializer.serialize_none(),
    }
}

pub(crate) fn hashes<S: Serializer>(
    hashes: &[(&'static str, u64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(hashes.len()))?;
    for (name, hash) in hashes {
        map.serialize_entry(name, &format_args!("{hash:016x}"))?;
    }
    map.end()
}

pub(crate) fn counts<S: Serializer>(
    counts: &[(&'static str, u64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().map(|(name, count)| (name, count)))
}
