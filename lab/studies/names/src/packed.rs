//! The same names in every encoding, each packed end to end.

use hashlane_baseline::separated::Separated;
use hashlane_name::build::encode_into;
use hashlane_name::component::Component;
use hashlane_name::error::BuildError;
use hashlane_name::layout::Layout;
use hashlane_name::walk::Encoding;

/// Most bytes of one encoding of a workload: all encodings together stay at about 1 GiB.
pub(crate) const MAX_BYTES: usize = 256 << 20;

/// Names of one encoding, end to end in one buffer: no allocation per name, and 4 bytes of bookkeeping for
/// each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Packed {
    /// Number of names.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all names.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The end of each name in the bytes of all, and those bytes.
    pub(crate) fn parts(&self) -> (&[u32], &[u8]) {
        (&self.ends, &self.bytes)
    }

    /// The encoded name numbered `index`; empty if `index` is out of range.
    pub(crate) fn name(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(Some(&0), |before| self.ends.get(before));
        match (start, self.ends.get(index)) {
            (Some(start), Some(end)) => self.bytes.get(*start as usize..*end as usize).unwrap_or_default(),
            _ => &[],
        }
    }

    fn push<'c, E: Layout>(
        &mut self,
        components: impl Iterator<Item = Component<'c>> + Clone,
    ) -> Result<(), PackError> {
        encode_into::<E>(&mut self.bytes, components)?;
        if self.bytes.len() > MAX_BYTES {
            self.truncate(self.len());
            return Err(PackError::Full);
        }
        self.ends.push(self.bytes.len() as u32);
        Ok(())
    }

    fn truncate(&mut self, names: usize) {
        self.ends.truncate(names);
        self.bytes.truncate(self.ends.last().map_or(0, |end| *end as usize));
    }
}

/// Reasons for which a name cannot be added to a workload.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum PackError {
    /// Not all encodings can hold the name.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The workload has reached [`MAX_BYTES`].
    #[error("the workload is full at {} MiB an encoding", MAX_BYTES >> 20)]
    Full,
}

macro_rules! ids {
    ($($id:ident: $encoding:ty),* $(,)?) => { [$(<$encoding>::ID),*] };
}

/// Encodings that the source compares. [`ENCODINGS`] adds the one of an earlier comparison.
pub(crate) const COMPARED: &[&str] = &hashlane_name::for_each_encoding!(ids);

macro_rules! names {
    ($($id:ident: $encoding:ty),* $(,)?) => {
        /// Ids of the encodings.
        pub(crate) const ENCODINGS: &[&str] = &[$(<$encoding>::ID),*];

        /// A workload: names, each in every encoding.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct Names {
            $(#[doc = concat!("The names in the encoding `", stringify!($id), "`.")]
            pub(crate) $id: Packed,)*
        }

        impl Names {
            /// Adds one name in all encodings, or in none.
            ///
            /// # Errors
            /// One of the encodings cannot hold the name, or the workload is full.
            pub(crate) fn push<'c>(
                &mut self,
                components: impl Iterator<Item = Component<'c>> + Clone,
            ) -> Result<(), PackError> {
                let names = self.len();
                let pushed = Ok(())$(.and_then(|()| self.$id.push::<$encoding>(components.clone())))*;
                if pushed.is_err() {
                    $(self.$id.truncate(names);)*
                }
                pushed
            }

            /// The names in the encoding whose [id](Encoding::ID) is `encoding`.
            pub(crate) fn packed(&self, encoding: &str) -> Option<&Packed> {
                match encoding {
                    $(<$encoding>::ID => Some(&self.$id),)*
                    _ => None,
                }
            }
        }
    };
}
hashlane_name::for_each_encoding!(names, separated: Separated);

impl Names {
    /// Number of names.
    pub(crate) fn len(&self) -> usize {
        self.ndn.len()
    }
}
