//! Packet sockets that tell more than the packet: when it was sent, and by which process, both in the kernel's own words.
#![allow(unsafe_code, reason = "no safe wrapper hands out the kernel's time stamp of a packet")]

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant, SystemTime};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

/// A packet that has come.
#[derive(Debug)]
pub(super) struct Packet {
    /// What it says.
    pub bytes: Vec<u8>,
    /// Longer than there was room for.
    pub cut: bool,
    /// When it was sent.
    pub sent: Instant,
    /// The same by the kernel's stamp: the system's clock.
    pub stamp: Option<Duration>,
    /// By whom.
    pub sender: u32,
}

/// Two ends of a packet socket.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// A packet of this size goes through a pipe as a whole.
pub(super) const IN_A_PIPE: usize = 4096;

/// Two ends of a pipe for packets, where we never wait: ours, and theirs.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    use rustix::fs::{OFlags, fcntl_setfl};
    use rustix::pipe::{PipeFlags, pipe_with};
    let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::DIRECT)?;
    fcntl_setfl(&ours, OFlags::WRONLY | OFlags::DIRECT | OFlags::NONBLOCK)?;
    Ok((ours, theirs))
}

/// From now on what comes here carries its time and its sender.
pub(super) fn stamp(socket: BorrowedFd<'_>) -> io::Result<()> {
    for option in [libc::SO_TIMESTAMPNS, libc::SO_PASSCRED] {
        let on: libc::c_int = 1;
        let size = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: the option's value is an int, and so long is what we point to.
        let result = unsafe {
            libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, (&raw const on).cast(), size)
        };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Room for the two things that come with a packet.
#[repr(align(8))]
struct Control([MaybeUninit<u8>; 128]);

/// The next packet, if one is there; `None` when the other end is gone. `room` is where it is put first.
pub(super) fn receive(socket: BorrowedFd<'_>, room: &mut [u8]) -> io::Result<Option<Packet>> {
    receive_with(socket, room, libc::MSG_DONTWAIT)
}

/// From now on [`receive_blocking`] waits for so long.
pub(super) fn set_read_timeout(socket: BorrowedFd<'_>, patience: Duration) -> io::Result<()> {
    use rustix::net::sockopt::{Timeout, set_socket_timeout};
    Ok(set_socket_timeout(socket, Timeout::Recv, Some(patience))?)
}

/// The same, but waits for a packet if none is there.
pub(super) fn receive_blocking(socket: BorrowedFd<'_>, room: &mut [u8]) -> io::Result<Option<Packet>> {
    receive_with(socket, room, 0)
}

fn receive_with(socket: BorrowedFd<'_>, room: &mut [u8], flags: libc::c_int) -> io::Result<Option<Packet>> {
    let mut control = Control([MaybeUninit::uninit(); 128]);
    let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    // SAFETY: all zeroes is a valid value of this plain structure.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len() as _;
    let flags = flags | libc::MSG_CMSG_CLOEXEC;
    // SAFETY: the structure points to room that outlives the call, with its true sizes.
    let count = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
    let Ok(count) = usize::try_from(count) else { return Err(io::Error::last_os_error()) };
    let (sent, sender) = about(&message);
    // An empty packet is no end: only the kernel's end comes without a sender.
    if count == 0 && sender == 0 {
        return Ok(None);
    }
    let cut = message.msg_flags & libc::MSG_TRUNC != 0;
    let bytes = room.get(..count).unwrap_or_default().to_vec();
    let at = sent.map_or_else(Instant::now, on_our_clock);
    Ok(Some(Packet { bytes, cut, sent: at, stamp: sent, sender }))
}

/// The time stamp and the sender of a packet.
fn about(message: &libc::msghdr) -> (Option<Duration>, u32) {
    let (mut sent, mut sender) = (None, 0);
    // SAFETY: the kernel has filled in the structure and what it points to.
    unsafe {
        let mut one = libc::CMSG_FIRSTHDR(message);
        while !one.is_null() {
            let data = libc::CMSG_DATA(one);
            match ((*one).cmsg_level, (*one).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    #[allow(clippy::cast_ptr_alignment, reason = "read as it lies")]
                    let time = data.cast::<libc::timespec>().read_unaligned();
                    sent = Some(Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32));
                }
                (libc::SOL_SOCKET, libc::SCM_CREDENTIALS) => {
                    #[allow(clippy::cast_ptr_alignment, reason = "read as it lies")]
                    let credentials = data.cast::<libc::ucred>().read_unaligned();
                    sender = credentials.pid.unsigned_abs();
                }
                // Descriptors: we want none.
                (libc::SOL_SOCKET, libc::SCM_RIGHTS) => close_all(one),
                _ => {}
            }
            one = libc::CMSG_NXTHDR(message, one);
        }
    }
    (sent, sender)
}

/// Closes the descriptors that somebody has sent.
///
/// # Safety
/// The message is one with descriptors, as the kernel has written it.
unsafe fn close_all(message: *mut libc::cmsghdr) {
    // SAFETY: so many descriptors stand there, and nobody else knows of them.
    unsafe {
        let bytes = (*message).cmsg_len - libc::CMSG_LEN(0) as usize;
        let first = libc::CMSG_DATA(message);
        for index in 0..bytes / size_of::<libc::c_int>() {
            let mut number = [0; size_of::<libc::c_int>()];
            first.add(index * number.len()).copy_to(number.as_mut_ptr(), number.len());
            libc::close(libc::c_int::from_ne_bytes(number));
        }
    }
}

/// A time of the system's clock as one of the clock that never jumps.
fn on_our_clock(sent: Duration) -> Instant {
    let now = Instant::now();
    system_time().checked_sub(sent).and_then(|age| now.checked_sub(age)).unwrap_or(now)
}

/// Now, by the system's clock.
pub(super) fn system_time() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Sends a packet without waiting. Says whether there was room for it.
pub(super) fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<bool> {
    use rustix::net::SendFlags;
    without_waiting(|| rustix::net::send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL))
}

/// The same with a [`pipe`].
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
    fn a_packet_carries_its_time_and_its_sender() {
        let (here, there) = pair().unwrap();
        stamp(here.as_fd()).unwrap();
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
    fn what_is_too_long_is_cut_and_the_end_is_seen() {
        let (here, there) = pair().unwrap();
        stamp(here.as_fd()).unwrap();
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
    fn packets_stay_apart_in_a_pipe_and_a_full_one_is_not_waited_for() {
        let (ours, theirs) = pipe().unwrap();
        let longest = [7; IN_A_PIPE];
        assert!(write(ours.as_fd(), b"one").unwrap() && write(ours.as_fd(), &longest).unwrap());
        let mut room = [0; 2 * IN_A_PIPE];
        assert_eq!(rustix::io::read(&theirs, &mut room).unwrap(), 3);
        assert_eq!(rustix::io::read(&theirs, &mut room).unwrap(), IN_A_PIPE);
        assert!((0..100_000).any(|_| !write(ours.as_fd(), b"more").unwrap()));
        assert_eq!(rustix::io::read(&theirs, &mut room).unwrap(), 4);
        drop(theirs);
        assert!(write(ours.as_fd(), b"to nobody").is_err());
    }
}
