//! Random numbers of transfers.

/// A random identifier of a query.
pub(crate) fn random_id() -> Result<u16, String> {
    Ok(random()? as u16)
}

/// A random number.
pub(crate) fn random() -> Result<u32, String> {
    getrandom::u32().map_err(|error| format!("no random numbers: {error}"))
}
