//! Metadata that DuckDB expects at the end of an extension.
//!
//! After a header that makes WebAssembly programs valid there are eight fields of 32 bytes, the last one
//! first, and 256 bytes of a signature, zeros in an unsigned extension. Source: `ParsedExtensionMetaData` in
//! src/include/duckdb/main/extension.hpp of DuckDB.

/// Oldest version of DuckDB's C extension API that can load the extension.
pub(super) const API: &str = "v1.2.0";

/// Bytes of a field.
const FIELD: usize = 32;

/// Bytes of the fields and the signature.
const FOOTER: usize = 8 * FIELD + 256;

/// The file of an extension: a shared object, and its metadata. `platform` is DuckDB's name of one
/// (`PRAGMA platform`).
///
/// # Errors
/// A field is longer than 31 bytes.
pub(super) fn with_footer(library: &[u8], platform: &str, version: &str) -> Result<Vec<u8>, String> {
    // Magic number, platform, version of the API, of the extension, type of the ABI, three unused.
    let fields = ["4", platform, API, version, "C_STRUCT", "", "", ""];
    // A custom section of 531 bytes with a name of 16, and 512 bytes.
    let head = [&[0, 0x93, 0x04, 16][..], b"duckdb_signature", &[0x80, 0x04]].concat();
    let mut file = Vec::with_capacity(library.len() + head.len() + FOOTER);
    file.extend_from_slice(library);
    file.extend_from_slice(&head);
    for field in fields.iter().rev() {
        if field.len() >= FIELD {
            return Err(format!("{field:?} is longer than {} bytes", FIELD - 1));
        }
        let end = file.len() + FIELD;
        file.extend_from_slice(field.as_bytes());
        file.resize(end, 0);
    }
    file.resize(file.len() + 256, 0);
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_512_bytes_are_the_fields_and_a_signature() {
        let file = with_footer(b"\x7fELF", "linux_amd64", "0.1.0").unwrap();
        assert!(file.starts_with(b"\x7fELF\0\x93\x04\x10duckdb_signature\x80\x04"));
        let footer = &file[file.len() - FOOTER..];
        let field = |number: usize| {
            let field = &footer[(8 - number) * FIELD..(9 - number) * FIELD];
            String::from_utf8(field.to_vec()).unwrap().trim_end_matches('\0').to_owned()
        };
        let fields: Vec<String> = (1..=8).map(field).collect();
        assert_eq!(fields, ["4", "linux_amd64", "v1.2.0", "0.1.0", "C_STRUCT", "", "", ""]);
        assert_eq!(footer[8 * FIELD..], [0; 256]);
    }

    #[test]
    fn a_field_that_is_too_long_is_refused() {
        assert!(with_footer(b"", &"p".repeat(FIELD), "0.1.0").is_err());
    }
}
