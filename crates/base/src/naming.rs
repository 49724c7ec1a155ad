//! Stable hashes and child names: a child's name follows from its owner's UID and the intent, so that a create
//! issued twice collides instead of making a duplicate.

use sha2::{Digest, Sha256};

/// The letters of Kubernetes' random suffixes: no vowels, no look-alikes.
/// Source: apimachinery `util/rand` `alphanums`.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// Maps a uniform number to one letter of a random-looking suffix.
pub fn suffix_letter(number: u64) -> char {
    let index = usize::try_from(number % 27).unwrap_or(0);
    char::from(LETTERS[index])
}

/// A suffix of `length` letters that looks random to people and follows from `parts` alone.
/// Parts are length-prefixed before hashing, so `["ab","c"]` and `["a","bc"]` differ.
pub fn stable_suffix(parts: &[&str], length: usize) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let digest = hash.finalize();
    digest
        .iter()
        .cycle()
        .take(length)
        .map(|byte| suffix_letter(u64::from(*byte)))
        .collect()
}

/// FNV-1a, 32 bit: the hash behind long label values and template hashes.
pub fn fnv32a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

/// `{base}-{suffix}`, with the base cut so that the whole fits `limit` characters.
pub fn with_suffix(base: &str, suffix: &str, limit: usize) -> String {
    let room = limit.saturating_sub(suffix.len() + 1);
    let cut: String = base.chars().take(room).collect();
    format!("{cut}-{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suffix_follows_from_its_parts_alone() {
        assert_eq!(
            stable_suffix(&["uid-1", "replica", "0"], 5),
            stable_suffix(&["uid-1", "replica", "0"], 5)
        );
        assert_ne!(stable_suffix(&["ab", "c"], 5), stable_suffix(&["a", "bc"], 5));
    }

    #[test]
    fn fnv32a_matches_its_published_vectors() {
        assert_eq!(fnv32a(b""), 0x811c_9dc5);
        assert_eq!(fnv32a(b"foobar"), 0xbf9c_f968);
    }

    #[test]
    fn a_long_base_is_cut_to_the_limit() {
        assert_eq!(with_suffix("abcdef", "xy", 6), "abc-xy");
    }
}
