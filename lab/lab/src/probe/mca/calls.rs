//! Calls laid after a function before it is simulated.

/// Code after the function when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// Nothing.
    None,
    /// The calls of the source's cold arm.
    Cold,
}

impl Calls {
    /// In AT&T syntax.
    pub(super) fn assembly(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Cold => "\tcall rand\n\tcall rand\n",
        }
    }

    /// The workload's id: `mca/CPU` or `mca/CPU/cold-call`.
    pub fn workload(self, cpu: &str) -> String {
        match self {
            Self::None => format!("mca/{cpu}"),
            Self::Cold => format!("mca/{cpu}/cold-call"),
        }
    }
}
