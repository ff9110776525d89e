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
        id: "wyhash-4.3",
        reason: "No check value of it is published that we know of; version 4.2 is audited.",
    },
    Missing {
        id: "go-memhash",
        reason: "Maps of Go hash by AES rounds where the CPU has them, and elsewhere by a variant of wyhash \
                 under words that each process draws: no check value is published.",
    },
    Missing {
        id: "ruby-string",
        reason: "It is SipHash under a key of the process (rb_memhash), and SipHash is audited.",
    },
    Missing { id: "lua-string", reason: "No check value of luaS_hash is published." },
    Missing {
        id: "v8-string",
        reason: "V8 keeps some bits of rapidhash, or, before, of one-at-a-time: both are audited, V8's \
                 treatment of numbers is not.",
    },
    Missing { id: "erlang-phash2", reason: "It is defined for terms of Erlang, not for bytes." },
];
