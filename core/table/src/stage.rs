//! The interface between a data plane and the studies that time it.

/// A step of a receive path, run over a batch of packets.
///
/// A plane's receive path is a row of stages: decode and hash, prefetch, act. Each reads the output of
/// earlier stages from the batch. Only the crates of planes implement this trait; a plane's own receive path
/// runs its stages in order, and a study that times stages times these.
pub trait Stage<B: ?Sized> {
    /// Runs over all packets of `batch`, in order of arrival.
    fn run(&mut self, batch: &mut B);
}
