//! `/etc/ld.so.cache`: where the dynamic loader finds libraries. Read, not asked for: `ldconfig` exists to write it.
//!
//! The format of glibc since 2.1 (`sysdeps/generic/dl-cache.h`): a header of 48 bytes, entries of 24, then strings;
//! offsets count from the header. An older header may stand in front.

/// Begins the header.
const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
const HEADER: usize = 48;
const ENTRY: usize = 24;

/// Names and paths of libraries, in the order in which the loader takes them. None where it is no such cache.
pub(crate) fn libraries(cache: &[u8]) -> Option<Vec<(String, String)>> {
    let start = cache
        .windows(MAGIC.len())
        .position(|bytes| bytes == MAGIC)?;
    let cache = &cache[start..];
    let count = usize::try_from(number(cache, MAGIC.len())?).ok()?;
    // The count is a claim; the file's length is not.
    let most = cache.len().saturating_sub(HEADER) / ENTRY;
    let mut found = Vec::new();
    for at in (0..count.min(most)).map(|index| HEADER + index * ENTRY) {
        let name = string(cache, number(cache, at + 4)?)?;
        let path = string(cache, number(cache, at + 8)?)?;
        found.push((name, path));
    }
    Some(found)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_ne_bytes(bytes))
}

fn string(bytes: &[u8], at: u32) -> Option<String> {
    let rest = bytes.get(usize::try_from(at).ok()?..)?;
    let end = rest.iter().take(4096).position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(&rest[..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machines_cache_names_its_libc() {
        let Ok(cache) = std::fs::read("/etc/ld.so.cache") else {
            return;
        };
        let found = libraries(&cache).expect("is a cache");
        let (_, path) = found
            .iter()
            .find(|(name, _)| name == "libc.so.6")
            .expect("has a libc");
        assert!(std::path::Path::new(path).exists(), "{path}");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
            let mut cache = MAGIC.to_vec();
            cache.extend(bytes);
            let _ = libraries(&cache);
        }
    }
}
