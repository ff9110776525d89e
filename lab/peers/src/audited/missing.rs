//! Hashes that people use and the audit does not try, each with the reason.

/// A hash that is not audited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The id that it would have.
    pub id: &'static str,
    /// The reason, in one sentence.
    pub reason: &'static str,
}

/// The hashes that are not audited.
pub const NOT_AUDITED: &[Missing] = &[
    #[cfg(target_feature = "aes")]
    Missing {
        id: "ahash-fallback",
        reason: "The crate ahash 0.8.12 chooses between AES rounds and folded products when it is compiled: \
                 in this build `ahash` is by AES rounds, and one without -C target-feature=+aes has the \
                 other.",
    },
    Missing {
        id: "absl-hash-simd",
        reason: "Builds of Abseil with AES or CRC instructions hash otherwise, and no crate holds them; the \
                 function of default builds is audited.",
    },
    Missing {
        id: "farmhash64-native",
        reason: "Hash64 of farmhash.cc is another function on each kind of CPU, and the crate farmhash \
                 1.1.5 gives other results; Fingerprint64 and the version NA are audited.",
    },
    Missing {
        id: "t1ha0",
        reason: "It is another function on each kind of CPU, and the crate t1ha 0.1.2 reads beyond the end \
                 of its input; t1ha1 and t1ha2 are audited.",
    },
    Missing {
        id: "ruby-string",
        reason: "It is SipHash-1-3 under a key of the process (rb_memhash), audited as `siphash-1-3`.",
    },
    Missing {
        id: "v8-string",
        reason: "V8 13.6 takes 30 bits of rapidhash v1: under public secrets, as in Node.js 24.0 to 24.4.0 \
                 (CVE-2025-27209), it is audited as `rapidhash-v1`; newer releases draw secrets for each \
                 process. Strings that are integers have another hash (CVE-2026-21717), not audited.",
    },
    Missing {
        id: "java-tree-bins",
        reason: "They are no hash: HashMap orders the keys of a bucket of eight by comparison (JEP 180), so \
                 that strings of one hash cost a lookup the logarithm of their number. The hash is audited \
                 as `java-string`, in tables of chains.",
    },
    Missing {
        id: "erlang-map",
        reason: "Maps of Erlang hash terms in memory by another function on each kind of CPU, which no \
                 function of the language shows; binaries are audited as `erlang-phash2`.",
    },
];
