//! From one encoding to another.

use crate::build::OwnedName;
use crate::error::BuildError;
use crate::layout::Layout;
use crate::view::Name;

/// The name in the encoding `To`: the same components, types and values alike, so that converting back gives
/// the same bytes.
///
/// # Errors
/// [`BuildError`] when `To` cannot hold the name: NDN refuses a digest component that has not 32 bytes, and
/// every encoding a name that grows beyond [`MAX_NAME_LEN`](crate::MAX_NAME_LEN).
pub fn convert<From: Layout, To: Layout>(name: &Name<'_, From>) -> Result<OwnedName<To>, BuildError> {
    OwnedName::from_components(name.components())
}
