//! Edits of the kernel's source: one function is removed, two files of ours are added.

use anyhow::{Context, Result, ensure};

/// The file of the function, and our files in the same folder.
pub(crate) const FILE: &str = "net/ipv6/inet6_hashtables.c";
pub(crate) const FOLDER: &str = "net/ipv6";
pub(crate) const SCHEME: &str = "hashlane_scheme.h";
pub(crate) const FILES: [(&str, &str); 2] =
    [("hashlane_ehash.h", include_str!("tree/ehash.h")), ("hashlane_probe.h", include_str!("tree/probe.h"))];

/// The file with the size of the host's floating-point state.
pub(crate) const SIZES: &str = "arch/x86/um/user-offsets.c";

/// The function without its body, and the text that ends it.
const FUNCTION: &str = "\nu32 inet6_ehashfn(";
const END: &str = "\n}\nEXPORT_SYMBOL_GPL(inet6_ehashfn);\n";

/// The current size in bytes, and one that is enough for every CPU of today.
const SIZE: &str = "HOST_FP_SIZE, 2696)";
const WIDER: &str = "HOST_FP_SIZE, 16384)";

/// The size in bytes that the source has room for.
pub(crate) const FITS: u32 = 2696;

/// Reason why a source is not as expected: the text not found in a file.
pub(crate) fn unknown(file: &str, what: &str) -> String {
    format!(
        "{file} has no {what}: this source of Linux is not one that the study knows (it was made for 6.1); give \
         another with --linux-source"
    )
}

/// The text of [`FILE`] with our function in place of the kernel's, and our files under /proc.
pub(crate) fn replace_hash(text: &str) -> Result<String> {
    let parts = text.split_once(FUNCTION).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.with_context(|| unknown(FILE, "function inet6_ehashfn"))?;
    let [(ehash, _), (probe, _)] = FILES;
    Ok(format!("{before}\n#include \"{ehash}\"\n{after}\n#include \"{probe}\"\n"))
}

/// The text of [`SIZES`] with room for the state of a CPU with large registers (AMX).
pub(crate) fn widen(text: &str) -> Result<String> {
    ensure!(text.contains(SIZE), unknown(SIZES, "HOST_FP_SIZE of 2696 bytes"));
    Ok(text.replace(SIZE, WIDER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_the_function_and_nothing_else() {
        let text = "#include <linux/random.h>\n\nu32 inet6_ehashfn(const struct net *net)\n{\n\tif (1) {\n\t}\n\treturn 0;\n}\n\
                    EXPORT_SYMBOL_GPL(inet6_ehashfn);\n\nint other(void)\n{\n}\n";
        let expected = "#include <linux/random.h>\n\n#include \"hashlane_ehash.h\"\n\nint other(void)\n{\n}\n\n#include \"hashlane_probe.h\"\n";
        assert_eq!(replace_hash(text).unwrap(), expected);
        for unknown in ["", "u32 inet6_ehashfn(", "\nu32 inet6_ehashfn(void)\n{\n}\n", expected] {
            assert!(replace_hash(unknown).unwrap_err().to_string().starts_with(FILE));
        }
    }

    #[test]
    fn widens_the_state_once() {
        let text = "\tDEFINE_LONGS(HOST_FP_SIZE, 2696);\n";
        let wide = widen(text).unwrap();
        assert_eq!(wide, "\tDEFINE_LONGS(HOST_FP_SIZE, 16384);\n");
        assert!(widen(&wide).unwrap_err().to_string().contains("user-offsets.c"));
    }
}
