//! Signatures of hash functions in shared objects, written as in C.

use core::fmt;
use core::str::FromStr;

/// Longest text of a signature in bytes.
const LONGEST: usize = 256;

/// Accepted forms, for messages.
const FORMS: &str = "write it as in C, for example 'u64(const u8* key, usize len, u64 seed)'";

/// Types and names of a hash function's result and parameters: a pointer to the bytes to hash, or an integer
/// to hash, and, if the function has them, the number of bytes and a seed, in any order.
///
/// ```
/// use hashlane_audit::library::Signature;
///
/// let signature: Signature = "uint32_t jhash(const void *key, u32 length, u32 initval);".parse()?;
/// assert_eq!(signature.to_string(), "u32(const u8* key, u32 len, u32 seed)");
/// # Ok::<(), hashlane_audit::library::SignatureError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub(super) result: Width,
    /// From one to three, each at most once; exactly one is [`Parameter::Bytes`] or [`Parameter::Integer`].
    pub(super) parameters: Vec<Parameter>,
    /// True if the seed is a secret key by its name.
    is_secret: bool,
}

/// Width of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Bits32,
    Bits64,
}

impl Width {
    pub(super) fn bits(self) -> u32 {
        match self {
            Self::Bits32 => 32,
            Self::Bits64 => 64,
        }
    }
}

/// Meaning of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    /// Pointer to the bytes to hash.
    Bytes,
    /// Integer to hash, whose bytes are the key, little-endian.
    Integer(Width),
    /// Number of bytes to hash.
    Length(Width),
    /// Seed by value.
    Seed(Width),
    /// Pointer to a seed of 16 bytes.
    SeedPointer,
}

impl Parameter {
    /// Word for its part in the function, the same for both kinds of seeds.
    fn part(self) -> &'static str {
        match self {
            Self::Bytes => "pointer to the bytes to hash",
            Self::Integer(_) => "integer to hash",
            Self::Length(_) => "length",
            Self::Seed(_) | Self::SeedPointer => "seed",
        }
    }
}

impl Signature {
    /// True if the function takes the number of bytes to hash.
    pub fn has_length(&self) -> bool {
        self.parameters.iter().any(|parameter| matches!(parameter, Parameter::Length(_)))
    }

    /// Bytes of a key of a function that takes an integer: 4 or 8.
    pub fn integer_bytes(&self) -> Option<usize> {
        self.parameters.iter().find_map(|parameter| match parameter {
            Parameter::Integer(width) => Some(width.bits() as usize / 8),
            _ => None,
        })
    }

    /// Bits of the seed that the function takes: 0, 32, 64 or 128.
    pub fn seed_bits(&self) -> u32 {
        let bits = |parameter: &Parameter| match parameter {
            Parameter::Seed(width) => width.bits(),
            Parameter::SeedPointer => 128,
            Parameter::Bytes | Parameter::Integer(_) | Parameter::Length(_) => 0,
        };
        self.parameters.iter().map(bits).sum()
    }

    /// True if the function takes a secret key: a pointer with the name `key`, `k` or one that has `secret`.
    pub fn has_secret(&self) -> bool {
        self.is_secret
    }

    /// The same function, whose seed is a secret key; `None` if it takes no seed.
    pub fn with_secret(self) -> Option<Self> {
        (self.seed_bits() > 0).then_some(Self { is_secret: true, ..self })
    }

    /// Bits of the result: 32 or 64.
    pub fn width(&self) -> u32 {
        self.result.bits()
    }
}

/// Error of a signature that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// More bytes than a signature may have.
    #[error("signature: {0} bytes are too long; at most {LONGEST}")]
    TooLong(usize),
    /// Not of the form `RESULT(PARAMETERS)`.
    #[error("signature: not of the form RESULT(PARAMETERS); {FORMS}")]
    Form,
    /// Type of the result that is not accepted.
    #[error("signature: unknown type {0:?} of the result; one of u32, u64, uint32_t, uint64_t, size_t")]
    Result(String),
    /// Parameter whose type is not accepted.
    #[error(
        "signature: unknown type of the parameter {0:?}; one of const u8*, const void*, const char*, usize, \
         size_t, u32, u64, int; a seed of 128 bits is a pointer to its 16 bytes: const u8* seed"
    )]
    Parameter(String),
    /// Parameter that may be the length or the seed, or the bytes or the seed.
    #[error(
        "signature: the part of {0:?} is unclear; name the parameters: data (a pointer to bytes) or key (an \
         integer), len, seed (a number, or a pointer to 16 bytes), secret (a pointer to a secret key, also \
         beside an integer)"
    )]
    Unclear(String),
    /// Two parameters for one part.
    #[error("signature: two parameters are the {0}; {FORMS}")]
    Twice(&'static str),
    /// Two parameters for the seed.
    #[error(
        "signature: two parameters are the seed; a seed of two words is a pointer to 16 bytes: write a wrapper \
         in C that takes const u8* seed"
    )]
    TwoSeeds,
    /// Neither a pointer to the bytes to hash nor an integer to hash.
    #[error("signature: no pointer to the bytes to hash, and no integer named key; {FORMS}")]
    NoBytes,
    /// Length of an integer.
    #[error("signature: {0:?} is the length of an integer, whose type has it: pass a pointer, or no length")]
    LengthOfInteger(String),
}

/// Writes the signature with standard types and names.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "u{}(", self.width())?;
        for (number, parameter) in self.parameters.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            match parameter {
                Parameter::Bytes => write!(f, "{comma}const u8* key")?,
                Parameter::Integer(width) => write!(f, "{comma}u{} key", width.bits())?,
                Parameter::Length(Width::Bits32) => write!(f, "{comma}u32 len")?,
                Parameter::Length(Width::Bits64) => write!(f, "{comma}usize len")?,
                Parameter::Seed(width) => write!(f, "{comma}u{} seed", width.bits())?,
                Parameter::SeedPointer if self.is_secret => write!(f, "{comma}const u8* secret")?,
                Parameter::SeedPointer => write!(f, "{comma}const u8* seed")?,
            }
        }
        f.write_str(")")
    }
}

impl FromStr for Signature {
    type Err = SignatureError;

    fn from_str(text: &str) -> Result<Self, SignatureError> {
        if text.len() > LONGEST {
            return Err(SignatureError::TooLong(text.len()));
        }
        let text = text.trim();
        let text = text.strip_suffix(';').unwrap_or(text).trim_end();
        let (result, parameters) = text.split_once('(').ok_or(SignatureError::Form)?;
        let parameters = parameters.strip_suffix(')').ok_or(SignatureError::Form)?;
        if parameters.contains(['(', ')']) {
            return Err(SignatureError::Form);
        }
        let (parameters, is_secret) = parse_parameters(parameters)?;
        Ok(Self { result: parse_result(result)?, parameters, is_secret })
    }
}

/// Words without those that change nothing.
fn words(text: &str) -> Vec<&str> {
    const IDLE: [&str; 9] =
        ["const", "extern", "static", "inline", "volatile", "restrict", "__restrict", "mut", "\"C\""];
    text.split_whitespace().filter(|word| !IDLE.contains(word)).collect()
}

/// Type of an integer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Integer {
    U32,
    U64,
    /// `int`, which a length may be.
    Int,
    /// `size_t`
    Size,
}

impl Integer {
    fn width(self) -> Width {
        match self {
            Self::U32 | Self::Int => Width::Bits32,
            Self::U64 | Self::Size => Width::Bits64,
        }
    }
}

/// The type of an integer at the beginning of `words`, and the words after it.
fn integer<'a, 'b>(words: &'a [&'b str]) -> Option<(Integer, &'a [&'b str])> {
    (1..=words.len().min(4)).rev().find_map(|count| {
        let (begin, rest) = words.split_at(count);
        let integer = match begin {
            ["u32" | "uint32_t" | "__u32" | "unsigned"] | ["unsigned", "int"] => Integer::U32,
            ["u64" | "uint64_t" | "__u64"] | ["unsigned", "long"] => Integer::U64,
            ["unsigned", "long", "long" | "int"] | ["unsigned", "long", "long", "int"] => Integer::U64,
            ["int" | "i32" | "int32_t"] => Integer::Int,
            ["usize" | "size_t" | "ssize_t" | "uintptr_t"] => Integer::Size,
            _ => return None,
        };
        Some((integer, rest))
    })
}

fn parse_result(text: &str) -> Result<Width, SignatureError> {
    let words = words(text);
    match integer(&words) {
        // At most the name of the function.
        Some((Integer::U32, [] | [_])) => Ok(Width::Bits32),
        Some((Integer::U64 | Integer::Size, [] | [_])) => Ok(Width::Bits64),
        _ => Err(SignatureError::Result(text.trim().to_owned())),
    }
}

/// Part of a parameter by its name alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Seed,
    Secret,
    Length,
    Bytes,
    /// `key`, which may be the bytes or the seed.
    Key,
    Nothing,
}

impl Named {
    fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let contains = |words: &[&str]| words.iter().any(|word| name.contains(word));
        match name.as_str() {
            "" => Self::Nothing,
            "key" | "k" => Self::Key,
            "n" | "length" | "bytes" | "count" | "l" => Self::Length,
            "iv" | "hval" | "hash" | "h" => Self::Seed,
            _ if contains(&["secret"]) => Self::Secret,
            _ if contains(&["seed", "init", "salt", "basis"]) => Self::Seed,
            _ if contains(&["len", "size", "num", "nbytes"]) => Self::Length,
            _ => Self::Bytes,
        }
    }
}

/// A parameter by its text.
struct Parsed<'a> {
    text: &'a str,
    /// `None` for a pointer.
    integer: Option<Integer>,
    name: Named,
}

fn parse_parameter(text: &str) -> Result<Parsed<'_>, SignatureError> {
    let text = text.trim();
    let unknown = || SignatureError::Parameter(text.to_owned());
    // An array is a pointer, its name stands before the brackets.
    let (declared, is_array) = match text.split_once('[') {
        Some((declared, length)) if length.ends_with(']') => (declared, true),
        Some(_) => return Err(unknown()),
        None => (text, false),
    };
    let (kind, name) = match declared.split_once('*') {
        Some((kind, name)) => (words(kind), Some(words(name))),
        None => (words(declared), None),
    };
    let one_name = |words: &[&str]| match words {
        [] => Ok(Named::Nothing),
        [name] if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => Ok(Named::of(name)),
        _ => Err(unknown()),
    };
    if is_array || name.is_some() {
        let bytes = match kind.as_slice() {
            ["unsigned", "char", rest @ ..] | ["u8" | "uint8_t" | "__u8" | "char" | "void", rest @ ..] => {
                rest
            }
            _ => return Err(unknown()),
        };
        let name = match name {
            // An array of pointers, or a name before the star.
            Some(name) if !is_array && bytes.is_empty() => one_name(&name)?,
            None => one_name(bytes)?,
            Some(_) => return Err(unknown()),
        };
        return Ok(Parsed { text, integer: None, name });
    }
    let (integer, name) = integer(&kind).ok_or_else(unknown)?;
    Ok(Parsed { text, integer: Some(integer), name: one_name(name)? })
}

/// The parameters, and true if the seed is a secret key.
fn parse_parameters(text: &str) -> Result<(Vec<Parameter>, bool), SignatureError> {
    if matches!(text.trim(), "" | "void") {
        return Err(SignatureError::NoBytes);
    }
    let parsed: Vec<_> = text.split(',').map(parse_parameter).collect::<Result<_, _>>()?;
    let pointers = parsed.iter().filter(|parsed| parsed.integer.is_none());
    let (pointers, seeds, keys) = pointers.fold((0, 0, 0), |(pointers, seeds, keys), parsed| {
        (
            pointers + 1,
            seeds + u32::from(matches!(parsed.name, Named::Seed | Named::Secret)),
            keys + u32::from(parsed.name == Named::Key),
        )
    });
    // No pointer to bytes: an integer is hashed.
    let by_value = pointers == seeds;
    let mut parameters: Vec<Parameter> = Vec::new();
    let mut is_secret = false;
    for parsed in &parsed {
        let parameter = match parsed.integer {
            None if matches!(parsed.name, Named::Seed | Named::Secret) => Parameter::SeedPointer,
            None if pointers - seeds <= 1 => Parameter::Bytes,
            // Two pointers, none of them named as a seed: `key` is one if the other has another name.
            None if seeds == 0 && keys == 1 => match parsed.name {
                Named::Key => Parameter::SeedPointer,
                Named::Bytes | Named::Length => Parameter::Bytes,
                Named::Nothing | Named::Seed | Named::Secret => {
                    return Err(SignatureError::Unclear(parsed.text.to_owned()));
                }
            },
            None => return Err(SignatureError::Unclear(parsed.text.to_owned())),
            Some(integer) if by_value && is_hashed(parsed) => Parameter::Integer(integer.width()),
            Some(integer) => parse_integer(integer, parsed)?,
        };
        if parameters.iter().any(|other| other.part() == parameter.part()) {
            return Err(match parameter {
                Parameter::Seed(_) | Parameter::SeedPointer => SignatureError::TwoSeeds,
                _ => SignatureError::Twice(parameter.part()),
            });
        }
        is_secret |= parameter == Parameter::SeedPointer && parsed.name != Named::Seed;
        parameters.push(parameter);
    }
    let has = |is: fn(&Parameter) -> bool| parameters.iter().any(is);
    if !has(|parameter| matches!(parameter, Parameter::Bytes | Parameter::Integer(_))) {
        return Err(SignatureError::NoBytes);
    }
    if by_value && let Some(length) = parsed.iter().find(|parsed| parsed.name == Named::Length) {
        return Err(SignatureError::LengthOfInteger(length.text.trim().to_owned()));
    }
    Ok((parameters, is_secret))
}

/// True if an integer of this name is hashed, in a function without a pointer to bytes.
fn is_hashed(parsed: &Parsed<'_>) -> bool {
    matches!(parsed.name, Named::Key | Named::Bytes)
}

fn parse_integer(integer: Integer, parsed: &Parsed<'_>) -> Result<Parameter, SignatureError> {
    let width = integer.width();
    match (parsed.name, integer) {
        (Named::Length, _) | (Named::Nothing, Integer::Size | Integer::Int) => Ok(Parameter::Length(width)),
        (Named::Seed | Named::Secret | Named::Key, Integer::U32 | Integer::U64 | Integer::Size)
        | (Named::Nothing, Integer::U64) => Ok(Parameter::Seed(width)),
        _ => Err(SignatureError::Unclear(parsed.text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(text: &str, same: &str) {
        let signature: Signature = text.parse().unwrap();
        assert_eq!(signature.to_string(), same, "{text}");
        assert_eq!(same.parse(), Ok(signature), "{same}");
    }

    #[test]
    fn prototypes_of_known_hashes_are_read() {
        reads("u64(const u8*, usize, u64 seed)", "u64(const u8* key, usize len, u64 seed)");
        reads("u32(const void*, int, u32 seed)", "u32(const u8* key, u32 len, u32 seed)");
        reads(
            "unsigned long long XXH3(const void* input, size_t length, unsigned long long seed);",
            "u64(const u8* key, usize len, u64 seed)",
        );
        reads("u32 jhash(const void *key, u32 length, u32 initval)", "u32(const u8* key, u32 len, u32 seed)");
        reads(
            "uint64_t siphash(const void *in, size_t inlen, const void *k)",
            "u64(const u8* key, usize len, const u8* secret)",
        );
        reads(
            "uint64_t h(const uint8_t key[16], char const * data, size_t n)",
            "u64(const u8* secret, const u8* key, usize len)",
        );
        reads("size_t(uint32_t seed, const char *s)", "u64(u32 seed, const u8* key)");
        reads("  u64 ( const unsigned char * restrict name )  ", "u64(const u8* key)");
        reads("u64(const u8 *data, const u8 *seed)", "u64(const u8* key, const u8* seed)");
    }

    #[test]
    fn integers_are_keys_of_their_width() {
        reads("u64(u64 key, u64 seed)", "u64(u64 key, u64 seed)");
        reads("u32(u32 key, u32 seed)", "u32(u32 key, u32 seed)");
        reads("uint64_t fmix64(uint64_t k)", "u64(u64 key)");
        reads("static inline u32 hash_32(u32 val, u32 seed)", "u32(u32 key, u32 seed)");
        reads("u64(uint32_t seed, unsigned long x)", "u64(u32 seed, u64 key)");
        reads("u32(int key)", "u32(u32 key)");
        reads("u64(u64 key, const u8* secret)", "u64(u64 key, const u8* secret)");
        let bytes = |text: &str| text.parse::<Signature>().unwrap().integer_bytes();
        assert_eq!(
            ["u64(u64 key, u64 seed)", "u64(u32 key)", "u64(const u8* key, usize len)"].map(bytes),
            [Some(8), Some(4), None]
        );
        let error = |text: &str| text.parse::<Signature>().unwrap_err();
        assert_eq!(error("u64(u64 key, usize len)"), SignatureError::LengthOfInteger("usize len".into()));
        assert_eq!(error("u64(u64 a, u64 b)"), SignatureError::Twice("integer to hash"));
        assert_eq!(error("u64(u64, u32)"), SignatureError::Unclear("u32".into()));
        assert_eq!(error("u64(u64 seed)"), SignatureError::NoBytes);
    }

    #[test]
    fn unclear_and_foreign_signatures_are_refused_with_the_accepted_forms() {
        let error = |text: &str| text.parse::<Signature>().unwrap_err();
        assert_eq!(error("u64"), SignatureError::Form);
        assert_eq!(error("u64(void (*f)(int))"), SignatureError::Form);
        assert_eq!(error("double(const u8*)"), SignatureError::Result("double".into()));
        assert_eq!(error("u64 a b(const u8*)"), SignatureError::Result("u64 a b".into()));
        assert_eq!(error("u64(const u16*, usize)"), SignatureError::Parameter("const u16*".into()));
        assert_eq!(error("u64(const u8**, usize)"), SignatureError::Parameter("const u8**".into()));
        assert_eq!(error("u64(const u8*, u32)"), SignatureError::Unclear("u32".into()));
        assert_eq!(error("u64(const u8*, const u8*)"), SignatureError::Unclear("const u8*".into()));
        let unclear = error("u64(u64 x, const u8* key)");
        assert!(matches!(unclear, SignatureError::Unclear(_)), "{unclear}");
        assert!(unclear.to_string().contains("secret (a pointer to a secret key, also beside an integer)"));
        let named: Signature = "u64(u64 x, const u8* secret)".parse().unwrap();
        assert!(named.has_secret() && named.integer_bytes() == Some(8));
        assert_eq!(error("u64(const u8*, usize, usize)"), SignatureError::Twice("length"));
        assert_eq!(error("u64(const u8*, u64 k, u32 seed)"), SignatureError::TwoSeeds);
        assert!(
            error("u64(const u8*, usize, u128 seed)").to_string().contains("its 16 bytes: const u8* seed")
        );
        let plain: Signature = "u64(const u8*, usize, u64 seed)".parse().unwrap();
        assert!(!plain.has_secret() && plain.with_secret().is_some_and(|signature| signature.has_secret()));
        assert_eq!("u64(const u8*, usize)".parse::<Signature>().unwrap().with_secret(), None);
        assert_eq!(error("u64(usize len)"), SignatureError::NoBytes);
        assert_eq!(error("u64(const u8* seed)"), SignatureError::NoBytes);
        assert_eq!(error("u64(void)"), SignatureError::NoBytes);
        assert_eq!(error(&"u".repeat(300)), SignatureError::TooLong(300));
        assert_eq!(error("u64(const u8*,)"), SignatureError::Parameter(String::new()));
        let text = error("u64(const u16*)").to_string();
        assert!(text.contains("const u8*") && text.contains("size_t"), "{text}");
    }
}
