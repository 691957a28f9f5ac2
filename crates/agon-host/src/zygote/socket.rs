//! Packet sockets with the kernel's information about each packet: when it was sent, and by which process.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant, SystemTime};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::sandbox::unsafe_syscalls::{self, Received};

/// A received packet.
#[derive(Debug)]
pub(super) struct Packet {
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether it was longer than the buffer.
    pub cut: bool,
    /// When it was sent.
    pub sent: Instant,
    /// The kernel's timestamp, by the system clock.
    pub timestamp: Option<Duration>,
    /// The id of the sending process.
    pub sender: u32,
}

/// Both ends of a packet socket.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// Maximum size of a packet that a pipe transfers as a whole.
pub(super) const MAX_PIPE_PACKET_BYTES: usize = 4096;

/// Both ends of a packet pipe: our end, which never blocks, and the bot's.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    use rustix::fs::{OFlags, fcntl_setfl};
    use rustix::pipe::{PipeFlags, pipe_with};
    let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::DIRECT)?;
    fcntl_setfl(&ours, OFlags::WRONLY | OFlags::DIRECT | OFlags::NONBLOCK)?;
    Ok((ours, theirs))
}

/// From now on every packet received here carries its time and its sender.
pub(super) fn enable_timestamps(socket: BorrowedFd<'_>) -> io::Result<()> {
    unsafe_syscalls::enable_packet_timestamps(socket)?;
    Ok(rustix::net::sockopt::set_socket_passcred(socket, true)?)
}

/// The next packet, if one is there; `None` when the other end is closed. The packet is received into `buffer`.
pub(super) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Option<Packet>> {
    receive_with(socket, buffer, false)
}

/// Sets the timeout of [`receive_blocking`].
pub(super) fn set_read_timeout(socket: BorrowedFd<'_>, timeout: Duration) -> io::Result<()> {
    use rustix::net::sockopt::{Timeout, set_socket_timeout};
    Ok(set_socket_timeout(socket, Timeout::Recv, Some(timeout))?)
}

/// The same, but waits for a packet if none is there.
pub(super) fn receive_blocking(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Option<Packet>> {
    receive_with(socket, buffer, true)
}

fn receive_with(socket: BorrowedFd<'_>, buffer: &mut [u8], wait: bool) -> io::Result<Option<Packet>> {
    let Received { length, cut, sent, sender } = unsafe_syscalls::receive_packet(socket, buffer, wait)?;
    // An empty packet is not the end: only the end of the stream has no sender.
    if length == 0 && sender == 0 {
        return Ok(None);
    }
    let bytes = buffer.get(..length).unwrap_or_default().to_vec();
    let at = sent.map_or_else(Instant::now, to_instant);
    Ok(Some(Packet { bytes, cut, sent: at, timestamp: sent, sender }))
}

/// Converts a time of the system clock to the monotonic clock.
fn to_instant(sent: Duration) -> Instant {
    let now = Instant::now();
    system_time().checked_sub(sent).and_then(|age| now.checked_sub(age)).unwrap_or(now)
}

/// The current time of the system clock.
pub(super) fn system_time() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Sends a packet without waiting. Returns whether there was room for it.
pub(super) fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<bool> {
    use rustix::net::SendFlags;
    without_waiting(|| rustix::net::send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL))
}

/// The same with a descriptor.
pub(super) fn send_with(socket: BorrowedFd<'_>, bytes: &[u8], given: BorrowedFd<'_>) -> io::Result<bool> {
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
    let rights = [given];
    without_waiting(|| {
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&rights));
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        sendmsg(socket, &[io::IoSlice::new(bytes)], &mut control, flags)
    })
}

/// The same for a [`pipe`].
pub(super) fn write(pipe: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<bool> {
    without_waiting(|| rustix::io::write(pipe, bytes))
}

fn without_waiting(mut put: impl FnMut() -> rustix::io::Result<usize>) -> io::Result<bool> {
    use rustix::io::Errno;
    loop {
        match put() {
            Ok(_) => return Ok(true),
            Err(Errno::AGAIN) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn packet_carries_its_time_and_its_sender() {
        let (here, there) = pair().unwrap();
        enable_timestamps(here.as_fd()).unwrap();
        let before = Instant::now();
        assert!(send(there.as_fd(), b"hello").unwrap());
        let after = Instant::now();
        std::thread::sleep(Duration::from_millis(20));
        let packet = receive(here.as_fd(), &mut [0; 64]).unwrap().unwrap();
        assert_eq!(
            (packet.bytes.as_slice(), packet.cut, packet.sender),
            (&b"hello"[..], false, std::process::id())
        );
        let slack = Duration::from_millis(5);
        assert!(packet.sent + slack >= before && packet.sent <= after + slack);
    }

    #[test]
    fn long_packet_is_cut_and_the_end_is_detected() {
        let (here, there) = pair().unwrap();
        enable_timestamps(here.as_fd()).unwrap();
        assert_eq!(receive(here.as_fd(), &mut [0; 4]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        send(there.as_fd(), b"too long").unwrap();
        let packet = receive(here.as_fd(), &mut [0; 4]).unwrap().unwrap();
        assert_eq!((packet.bytes.as_slice(), packet.cut), (&b"too "[..], true));
        send(there.as_fd(), b"").unwrap();
        assert!(receive(here.as_fd(), &mut [0; 4]).unwrap().unwrap().bytes.is_empty());
        drop(there);
        assert!(receive(here.as_fd(), &mut [0; 4]).unwrap().is_none());
    }

    #[test]
    fn pipe_keeps_packets_separate_and_a_full_one_does_not_block() {
        let (ours, theirs) = pipe().unwrap();
        let longest = [7; MAX_PIPE_PACKET_BYTES];
        assert!(write(ours.as_fd(), b"one").unwrap() && write(ours.as_fd(), &longest).unwrap());
        let mut buffer = [0; 2 * MAX_PIPE_PACKET_BYTES];
        assert_eq!(rustix::io::read(&theirs, &mut buffer).unwrap(), 3);
        assert_eq!(rustix::io::read(&theirs, &mut buffer).unwrap(), MAX_PIPE_PACKET_BYTES);
        assert!((0..100_000).any(|_| !write(ours.as_fd(), b"more").unwrap()));
        assert_eq!(rustix::io::read(&theirs, &mut buffer).unwrap(), 4);
        drop(theirs);
        assert!(write(ours.as_fd(), b"closed").is_err());
    }
}
