//! The server as its clients see it: real sockets on loopback ports.

mod control;
mod floods;
mod reload;
mod support;
mod tcp;
mod udp;
