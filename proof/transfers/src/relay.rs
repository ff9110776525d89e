//! A relay before a server, which loses, delays and cuts what passes, by a seed.
//!
//! `tc netem` would do the same to packets, but needs a module that many kernels lack. Over TCP, a lost
//! packet shows as a wait for its repetition, so that the relay waits.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Interval at which threads look for the end of a fault, and of the relay.
const TICK: Duration = Duration::from_millis(20);

/// Bytes that pass at one time.
const CHUNK: usize = 512;

/// Fate of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    Clear,
    /// A third of the datagrams is lost; a third of the chunks waits for 0.2 to 0.8 s.
    Loss,
    /// All wait for 20 to 150 ms.
    Delay,
    /// Connections end within a chunk, one in four.
    Cut,
    /// A slow primary: 5,000 bytes a second.
    Slow,
    /// Nothing arrives until the fault ends.
    Silence,
}

/// The faults, in their order.
pub(crate) const FAULTS: [Fault; 5] = [Fault::Loss, Fault::Delay, Fault::Cut, Fault::Slow, Fault::Silence];

/// A relay, ended when dropped.
pub(crate) struct Relay {
    shared: Arc<Shared>,
}

struct Shared {
    to: SocketAddr,
    fault: Mutex<Fault>,
    dice: Mutex<SplitMix64>,
    is_over: AtomicBool,
    connections: AtomicU64,
    /// Chunks and datagrams that passed, or should have, during a fault.
    met: AtomicU64,
}

impl Relay {
    /// Relays TCP and UDP from a port to another one of this host.
    ///
    /// # Errors
    /// The port is in use.
    pub(crate) fn start(port: u16, to: u16, seed: u64) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("relay at port {port}: {error}");
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(local).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let socket = UdpSocket::bind(local).map_err(failed)?;
        socket.set_read_timeout(Some(TICK)).map_err(failed)?;
        let shared = Arc::new(Shared {
            to: (Ipv4Addr::LOCALHOST, to).into(),
            fault: Mutex::new(Fault::Clear),
            dice: Mutex::new(SplitMix64::seed_from_u64(seed)),
            is_over: AtomicBool::new(false),
            connections: AtomicU64::new(0),
            met: AtomicU64::new(0),
        });
        let (over_tcp, over_udp) = (Arc::clone(&shared), Arc::clone(&shared));
        thread::spawn(move || over_tcp.accept(&listener));
        thread::spawn(move || over_udp.datagrams(&socket));
        Ok(Self { shared })
    }

    pub(crate) fn set(&self, fault: Fault) {
        *self.shared.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    /// Connections so far.
    pub(crate) fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Chunks and datagrams so far that passed, or should have, during a fault.
    pub(crate) fn met(&self) -> u64 {
        self.shared.met.load(Ordering::Relaxed)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn fault(&self) -> Fault {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn below(&self, end: u64) -> u64 {
        (self.dice.lock().unwrap_or_else(PoisonError::into_inner).next_u64() >> 16) % end
    }

    /// Waits for a fault that only delays. Returns false if the message is lost, or the connection cut.
    fn passes(&self) -> bool {
        let fault = self.fault();
        self.met.fetch_add(u64::from(fault != Fault::Clear), Ordering::Relaxed);
        let wait = |millis| thread::sleep(Duration::from_millis(millis));
        match fault {
            Fault::Clear => {}
            Fault::Loss => return self.below(3) > 0,
            Fault::Cut => return self.below(4) > 0,
            Fault::Delay => wait(20 + self.below(130)),
            Fault::Slow => wait(CHUNK as u64 / 5),
            Fault::Silence => {
                while self.fault() == Fault::Silence && !self.is_over() {
                    thread::sleep(TICK);
                }
            }
        }
        true
    }

    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        while !self.is_over() {
            match listener.accept() {
                Ok((near, _)) => {
                    self.connections.fetch_add(1, Ordering::Relaxed);
                    let shared = Arc::clone(self);
                    thread::spawn(move || shared.connection(near));
                }
                Err(_) => thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// Relays both ways of a connection until either end closes it.
    fn connection(self: &Arc<Self>, near: TcpStream) {
        let Ok(far) = TcpStream::connect(self.to) else { return };
        let ready = [&near, &far].iter().try_for_each(|stream| {
            stream.set_nonblocking(false)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(TICK))
        });
        let (Ok(()), Ok(back), Ok(forth)) = (ready, near.try_clone(), far.try_clone()) else { return };
        let shared = Arc::clone(self);
        let other = thread::spawn(move || shared.pump(forth, back));
        self.pump(near, far);
        let _ = other.join();
    }

    fn pump(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = [0; CHUNK];
        while !self.is_over() {
            let read = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
                Err(_) => break,
            };
            let (passes, fault) = (self.passes(), self.fault());
            let part = match passes {
                true => read,
                // Repeated by the kernel.
                false if fault == Fault::Loss => {
                    thread::sleep(Duration::from_millis(200 + self.below(600)));
                    read
                }
                false => self.below(read as u64) as usize,
            };
            if to.write_all(buffer.get(..part).unwrap_or_default()).is_err() || part < read {
                break;
            }
        }
        // The other way ends, too.
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }

    /// Relays datagrams, and one response to each.
    fn datagrams(self: &Arc<Self>, socket: &UdpSocket) {
        let mut buffer = [0; 4096];
        while !self.is_over() {
            let Ok((len, from)) = socket.recv_from(&mut buffer) else { continue };
            let (Ok(reply), Some(message)) = (socket.try_clone(), buffer.get(..len)) else { continue };
            let (shared, message) = (Arc::clone(self), message.to_vec());
            thread::spawn(move || shared.datagram(&reply, &message, from));
        }
    }

    fn datagram(&self, reply: &UdpSocket, message: &[u8], from: SocketAddr) {
        if !self.passes() {
            return;
        }
        let Ok(socket) = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)) else { return };
        let sent = socket.set_read_timeout(Some(Duration::from_secs(1)));
        let mut buffer = [0; 4096];
        let received =
            sent.and_then(|()| socket.send_to(message, self.to)).and_then(|_| socket.recv(&mut buffer));
        if let Ok(len) = received
            && self.passes()
        {
            // The client has gone.
            let _ = reply.send_to(buffer.get(..len).unwrap_or_default(), from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers each byte with the next one, and a relay to it.
    fn relayed(seed: u64) -> (Relay, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                thread::spawn(move || {
                    let mut byte = [0];
                    while stream.read_exact(&mut byte).is_ok() && stream.write_all(&[byte[0] + 1]).is_ok() {}
                });
            }
        });
        let [port] = crate::node::free_ports().unwrap();
        (Relay::start(port, to, seed).unwrap(), port)
    }

    fn ask(stream: &mut TcpStream, byte: u8) -> Option<u8> {
        let mut answer = [0];
        stream.write_all(&[byte]).ok()?;
        stream.read_exact(&mut answer).ok().map(|()| answer[0])
    }

    #[test]
    fn a_relay_passes_cuts_and_holds() {
        let (relay, port) = relayed(1);
        let connect = || TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut stream = connect();
        assert_eq!(ask(&mut stream, 7), Some(8));
        assert_eq!(relay.met(), 0);
        relay.set(Fault::Cut);
        let answers = (0..100).map_while(|byte| ask(&mut stream, byte)).count();
        assert!(answers < 100 && relay.met() > 0, "the connection is cut");
        relay.set(Fault::Silence);
        let mut stream = connect();
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        assert_eq!(ask(&mut stream, 1), None);
        relay.set(Fault::Clear);
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut answer = [0];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!((answer, relay.connections()), ([2], 2));
    }
}
