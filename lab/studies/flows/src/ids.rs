//! Enums whose variants have ids in study files.

/// Gives an enum `ALL`, `id`, `Display` by its id, and `FromStr` with an error that lists the ids.
macro_rules! ids {
    ($enum:ident, $error:ident $text:literal: $($variant:ident $id:literal),* $(,)?) => {
        impl $enum {
            /// All variants.
            pub const ALL: [Self; [$($id),*].len()] = [$(Self::$variant),*];

            /// The id in study files and on the command line.
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$variant => $id,)*
                }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.id())
            }
        }

        /// An id that no variant has. The text lists the known ones.
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        #[error($text, .0, $enum::ALL.map($enum::id).join(", "))]
        pub struct $error(String);

        impl std::str::FromStr for $enum {
            type Err = $error;

            fn from_str(id: &str) -> Result<Self, $error> {
                Self::ALL.into_iter().find(|variant| variant.id() == id).ok_or_else(|| $error(id.to_owned()))
            }
        }
    };
}
pub(crate) use ids;
