//! Changes of files of the user's tree. Text around a change is the tree's own.

use anyhow::{Context, Result};

/// The header that both functions of the hash take it from.
pub(super) const HEADER: &str = "include/net/inet_ehash.h";

/// The line before which the header is included.
const INCLUDE: &str = "#include <net/inet_hashtables.h>\n";

/// A function whose body a patch replaces.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) file: &'static str,
    /// Name with its bracket.
    name: &'static str,
    body: &'static str,
}

/// Parameters that the bodies use.
const PARAMETERS: [&str; 5] = ["net", "laddr", "lport", "faddr", "fport"];

pub(super) const FUNCTIONS: [Function; 2] = [
    Function {
        file: "net/ipv6/inet6_hashtables.c",
        name: "inet6_ehashfn(",
        body: "\
\tstatic struct inet_ehash_key key __read_mostly;

\tnet_get_random_once(&key, sizeof(key));

\treturn lport + (inet6_ehash(laddr, faddr, fport, &key) ^ net_hash_mix(net));
",
    },
    Function {
        file: "net/ipv4/inet_hashtables.c",
        name: "inet_ehashfn(",
        body: "\
\tstatic struct inet_ehash_key key __read_mostly;

\tnet_get_random_once(&key, sizeof(key));

\treturn lport + (inet4_ehash(laddr, faddr, fport, &key) ^ net_hash_mix(net));
",
    },
];

/// Reason why a file is not as in the known versions: the text not found in it.
pub(super) fn unknown(file: &str, what: &str) -> String {
    format!(
        "{file} has no {what}: it was changed, has a patch of the series already, or is of a version that is \
         not known; name an unchanged tree (tested: 6.1 and 6.12)"
    )
}

/// The text of a function's file with another body of the function, and the header included.
pub(super) fn replace_body(text: &str, function: &Function) -> Result<String> {
    let is_new = !text.contains("inet_ehash.h");
    let (before, after) = text.split_once(INCLUDE).filter(|_| is_new).with_context(|| {
        unknown(function.file, "line #include <net/inet_hashtables.h>, or it includes inet_ehash.h")
    })?;
    let included = format!("{before}#include <net/inet_ehash.h>\n{INCLUDE}{after}");
    let (open, close) = body(&included, function.name).with_context(|| {
        let what = format!("function {}) with the parameters {}", function.name, PARAMETERS.join(", "));
        unknown(function.file, &what)
    })?;
    let (head, rest) = included.split_at(open);
    let (_, tail) = rest.split_at(close - open);
    Ok(format!("{head}{}{tail}", function.body))
}

/// Places of the body in the definition of a function: after the line of its opening brace, and of its
/// closing brace.
fn body(text: &str, name: &str) -> Option<(usize, usize)> {
    text.match_indices(name).find_map(|(at, _)| {
        // A definition, which begins at a line's start with its result.
        let line = text.get(..at)?.rsplit('\n').next()?;
        let starts = line.ends_with("u32 ") && !line.starts_with(char::is_whitespace);
        let rest = text.get(at + name.len()..)?;
        let (parameters, _) = rest.split_once("\n{\n")?;
        let words = parameters.strip_suffix(')').filter(|_| starts)?;
        let named = |parameter: &str| words.split(',').any(|one| last_word(one) == parameter);
        if words.contains([';', '{', '(']) || !PARAMETERS.iter().all(|parameter| named(parameter)) {
            return None;
        }
        let open = at + name.len() + parameters.len() + "\n{\n".len();
        let close = open + text.get(open..)?.find("\n}\n")? + 1;
        Some((open, close))
    })
}

/// The name of a parameter: `lport` of `const u16 lport`.
fn last_word(parameter: &str) -> &str {
    let word = parameter.trim().rsplit(char::is_whitespace).next().unwrap_or(parameter);
    word.trim_start_matches('*')
}

/// The text with lines of ours at its end.
pub(super) fn append(text: &str, lines: &str) -> String {
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{newline}{lines}")
}

/// The Makefile of the selftests with one more program: after the first line of its kind.
pub(super) fn add_program(file: &'static str, text: &str, program: &str) -> Result<String> {
    // A list with one program a line, or an assignment for each program.
    let first = text
        .lines()
        .find(|line| line.starts_with("TEST_PROGS"))
        .with_context(|| unknown(file, "line of TEST_PROGS"))?;
    let place = text.find(first).unwrap_or(0);
    let (before, after) = text.split_at(place);
    if first.trim_end().ends_with('\\') {
        return Ok(format!(
            "{before}{first}\n\t{program} \\\n{}",
            after.get(first.len() + 1..).unwrap_or("")
        ));
    }
    let rest = after.get(first.len() + 1..).unwrap_or("");
    Ok(format!("{before}{first}\nTEST_PROGS += {program}\n{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file in outline.
    fn outline(signature: &str) -> String {
        format!(
            "#include <net/addrconf.h>\n#include <net/inet_hashtables.h>\n\nstatic u32 calls(void)\n{{\n\
             \treturn inet_ehashfn(net, 1, 2, 3, 4);\n}}\n\n\
             {signature}\n{{\n\tif (1) {{\n\t}}\n\treturn 0;\n}}\n\
             EXPORT_SYMBOL_GPL(inet_ehashfn);\n"
        )
    }

    #[test]
    fn replaces_the_body_and_keeps_the_rest() {
        for signature in [
            "u32 inet_ehashfn(const struct net *net, const __be32 laddr,\n\t\t const __u16 lport, \
             const __be32 faddr,\n\t\t const __be16 fport)",
            "static u32 inet_ehashfn(struct net *net, __be32 laddr, u16 lport, __be32 faddr, __be16 fport)",
        ] {
            let text = outline(signature);
            let changed = replace_body(&text, &FUNCTIONS[1]).unwrap();
            let header = "#include <net/inet_ehash.h>\n#include <net/inet_hashtables.h>\n";
            let expected = text
                .replace("#include <net/inet_hashtables.h>\n", header)
                .replace("\tif (1) {\n\t}\n\treturn 0;\n", FUNCTIONS[1].body);
            assert_eq!(changed, expected);
            // A tree that has the patch is refused.
            assert!(replace_body(&changed, &FUNCTIONS[1]).is_err());
        }
    }

    #[test]
    fn refuses_other_functions() {
        for signature in [
            "u32 inet_ehashfn(void)",
            "u32 inet_ehashfn(const struct net *net, __be32 l, u16 lport, __be32 faddr, __be16 fport)",
            "u32 other(const struct net *net, __be32 laddr, u16 lport, __be32 faddr, __be16 fport)",
        ] {
            let said = replace_body(&outline(signature), &FUNCTIONS[1]).unwrap_err().to_string();
            assert!(said.contains("net/ipv4/inet_hashtables.c has no function inet_ehashfn()"), "{said}");
        }
        assert!(replace_body("", &FUNCTIONS[0]).is_err());
    }

    #[test]
    fn adds_a_program_in_either_form() {
        let add = |text| add_program("Makefile", text, "new.sh").unwrap();
        assert_eq!(
            add("A = 1\nTEST_PROGS := a.sh\nB = 2\n"),
            "A = 1\nTEST_PROGS := a.sh\nTEST_PROGS += new.sh\nB = 2\n"
        );
        assert_eq!(
            add("TEST_PROGS := \\\n\ta.sh \\\n# end\n"),
            "TEST_PROGS := \\\n\tnew.sh \\\n\ta.sh \\\n# end\n"
        );
        // A list that begins with a program.
        assert_eq!(add("TEST_PROGS := a.sh \\\n\tb.sh\n"), "TEST_PROGS := a.sh \\\n\tnew.sh \\\n\tb.sh\n");
        assert!(add_program("Makefile", "", "new.sh").is_err());
    }
}
