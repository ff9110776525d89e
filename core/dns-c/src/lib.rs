//! The C API of the name compressor and the renderer of `hashlane-dns`, as a static library.
//!
//! `include/hashlane_dns.h` declares and documents the functions. Each function checks the pointers and
//! lengths that it gets, makes references of them, and calls the safe crates. Null pointers, malformed names
//! and data, lengths out of range and calls in a wrong order are errors of the type [`Status`]; a panic is
//! caught, and is [`Status::Internal`].

mod compressor;
mod input;
mod renderer;
mod status;

pub use compressor::{
    NameCompressor, hashlane_dns_compressor_compress, hashlane_dns_compressor_free,
    hashlane_dns_compressor_new, hashlane_dns_compressor_new_random, hashlane_dns_compressor_start,
    hashlane_dns_compressor_truncate,
};
pub use renderer::{
    MessageRenderer, hashlane_dns_renderer_edns, hashlane_dns_renderer_finish, hashlane_dns_renderer_free,
    hashlane_dns_renderer_header, hashlane_dns_renderer_length, hashlane_dns_renderer_mark,
    hashlane_dns_renderer_new, hashlane_dns_renderer_new_random, hashlane_dns_renderer_question,
    hashlane_dns_renderer_record, hashlane_dns_renderer_reserve, hashlane_dns_renderer_rollback,
    hashlane_dns_renderer_start,
};
pub use status::{Status, hashlane_dns_error};
