//! The system calls that nix, socket2 and the standard library do not wrap: the only unsafe code.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, AsRawFd as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Signal, set_parent_process_death_signal, setpriority_process};

nix::ioctl_readwrite_bad!(
    /// Binds an open `/dev/net/tun` to a device.
    tun_set_interface,
    // TUNSETIFF of linux/if_tun.h: declared with an int, called with an `ifreq`.
    nix::request_code_write!(b'T', 202, size_of::<libc::c_int>()),
    libc::ifreq
);

nix::ioctl_write_int_bad!(
    /// Says which work of the kernel the reader of a TUN device takes over.
    tun_set_offload,
    // TUNSETOFFLOAD of linux/if_tun.h.
    nix::request_code_write!(b'T', 208, size_of::<libc::c_uint>())
);

nix::ioctl_write_ptr!(
    /// Adds bytes to the kernel's randomness and credits them.
    random_add,
    b'R',
    3,
    [libc::c_int; 2]
);

nix::ioctl_none!(
    /// Makes the kernel's generator begin anew from what was added.
    random_reseed,
    b'R',
    7
);

/// Makes the kernel's randomness follow a number, as far as nothing else gets into it.
///
/// # Errors
/// No privilege.
pub(crate) fn seed_randomness(seed: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open("/dev/random")?;
    // `struct rand_pool_info` of linux/random.h: bits, bytes, and the bytes, 32 of them.
    let mut pool = [0_i32; 10];
    pool[..2].copy_from_slice(&[256, 32]);
    pool[2] = seed as i32;
    pool[3] = (seed >> 32) as i32;
    // SAFETY: the descriptor is open, and the kernel reads the two numbers and 32 bytes behind
    // them, which are there.
    unsafe { random_add(file.as_raw_fd(), pool.as_ptr().cast()) }?;
    // SAFETY: the descriptor is open.
    unsafe { random_reseed(file.as_raw_fd()) }?;
    Ok(())
}

/// Opens a TUN device in the network namespace of the calling thread: IP packets behind a
/// `virtio_net_hdr`, non-blocking. It goes when the file is closed. With `offload`, where the
/// kernel has it, TCP over IPv4 comes as packets that are to be cut; whether it does. With that or
/// `checksums` packets come whose checksum is left to do.
///
/// # Errors
/// No `/dev/net/tun`, no privilege, or the name is taken.
pub(crate) fn open_tun(name: &str, offload: bool, checksums: bool) -> io::Result<(File, bool)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC);
    let file = options.open("/dev/net/tun")?;
    // SAFETY: all-zero bytes are a valid `ifreq`: integers, byte arrays and unions of such.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name.iter_mut().take(room).zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags =
        (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    // SAFETY: the descriptor is open, and the kernel reads and writes one `ifreq` at the address,
    // which lives until the call returns.
    unsafe { tun_set_interface(file.as_raw_fd(), &raw mut request) }?;
    let flags = match (offload, checksums) {
        (true, _) => libc::TUN_F_CSUM | libc::TUN_F_TSO4,
        (false, true) => libc::TUN_F_CSUM,
        (false, false) => return Ok((file, false)),
    };
    // SAFETY: the descriptor is open; the argument is a plain number.
    let took = unsafe { tun_set_offload(file.as_raw_fd(), flags as libc::c_int) }.is_ok();
    Ok((file, offload && took))
}

/// The bytes of `TCP_INFO`, as many as this kernel gives.
///
/// # Errors
/// The socket is no TCP socket.
pub(crate) fn tcp_info(socket: &impl AsFd) -> io::Result<([u8; 256], usize)> {
    let mut bytes = [0_u8; 256];
    let mut length = bytes.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `bytes`, which has that many.
    let outcome = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if outcome != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((bytes, length as usize))
}

nix::ioctl_read_bad!(
    /// What a socket has written and nobody acknowledged (tcp(7), SIOCOUTQ).
    socket_outq,
    libc::TIOCOUTQ,
    libc::c_int
);

/// Bytes that were written to a socket and have not been acknowledged.
///
/// # Errors
/// The socket is not connected.
pub(crate) fn unacknowledged(socket: &impl AsFd) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open, and the kernel writes one int at the address.
    unsafe { socket_outq(socket.as_fd().as_raw_fd(), &raw mut bytes) }?;
    Ok(u64::try_from(bytes).unwrap_or(0))
}

/// Limits the window a socket advertises, in bytes.
///
/// # Errors
/// The socket is no TCP socket.
pub(crate) fn set_window_clamp(socket: &impl AsFd, bytes: i32) -> io::Result<()> {
    // SAFETY: the kernel reads one `int` from the address, which lives until the call returns.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_WINDOW_CLAMP,
            std::ptr::from_ref(&bytes).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes the calling thread a real-time one of low priority, ahead of all ordinary work.
///
/// # Errors
/// No privilege.
pub(crate) fn set_realtime() -> io::Result<()> {
    let priority: libc::c_int = 1;
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // The call itself: musl's function does nothing, and its `sched_param` is longer.
    // SAFETY: 0 is the calling thread, and the kernel reads one `int` from the address.
    let outcome =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Keeps the machine's processors from sleeping as long as the file is open: a wake-up of one that
/// sleeps takes tens of microseconds, and in a virtual machine more.
///
/// # Errors
/// No privilege, or a kernel without PM QoS.
pub(crate) fn stay_awake() -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency")?;
    // The longest wake-up that is accepted, us.
    file.write_all(&0_i32.to_ne_bytes())?;
    Ok(file)
}

/// Makes the calling thread the first among ordinary ones: a measurement is a small load, and what
/// else the machine does should not be in it.
///
/// # Errors
/// No privilege.
pub(crate) fn set_nice() -> io::Result<()> {
    Ok(setpriority_process(None, -20)?)
}

/// Makes a command run in a network namespace and die with the thread that starts it, however that
/// ends: nothing survives even a kill -9.
pub(crate) fn confine(command: &mut Command, namespace: &File) {
    let namespace = namespace.as_raw_fd();
    let enter = move || {
        // All three are single system calls, allowed between fork and exec.
        // SAFETY: the descriptor is the parent's, which holds it open while it starts the command.
        let entered = unsafe { libc::setns(namespace, libc::CLONE_NEWNET) };
        // Without the privilege it runs as everybody does.
        let _ = set_nice();
        if entered != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
    };
    // SAFETY: the closure allocates nothing and takes no lock.
    unsafe { command.pre_exec(enter) };
}

/// Makes a command the second process of the PID namespace in which it is started; the first waits
/// for it, and ends with the same code or 128 and its signal. The namespace sees a `/proc` of its
/// own where it may.
pub(crate) fn run_as_second_process(command: &mut Command) {
    let enter = || {
        show_own_processes();
        // SAFETY: fork is async-signal-safe, and this process has one thread.
        match unsafe { libc::fork() } {
            0 => Ok(()),
            -1 => Err(io::Error::last_os_error()),
            child => wait_and_exit(child),
        }
    };
    // SAFETY: the closure allocates nothing and takes no lock.
    unsafe { command.pre_exec(enter) };
}

/// Mounts the PID namespace's own `/proc` in a mount namespace of its own. Where that is not
/// allowed, `ps` shows everybody's.
fn show_own_processes() {
    let (none, root, proc) = (c"none".as_ptr(), c"/".as_ptr(), c"/proc".as_ptr());
    let (kind, nothing) = (c"proc".as_ptr(), std::ptr::null());
    // SAFETY: single system calls with strings that live for ever.
    unsafe {
        if libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(none, root, nothing, libc::MS_REC | libc::MS_PRIVATE, nothing.cast())
                == 0
        {
            libc::mount(none, proc, kind, 0, nothing.cast());
        }
    }
}

/// What the first process of a PID namespace does: it takes in orphans until `child` has ended.
fn wait_and_exit(child: libc::pid_t) -> ! {
    // SAFETY: single system calls with plain numbers and an address that lives until they return.
    // Everything open is closed but for the standard streams, so that nobody waits for their end.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0);
        loop {
            let mut status = 0;
            let ended = libc::waitpid(-1, &raw mut status, 0);
            let gone = ended == -1 && *libc::__errno_location() == libc::ECHILD;
            if ended == child && libc::WIFSIGNALED(status) {
                libc::_exit(128 + libc::WTERMSIG(status));
            } else if ended == child {
                libc::_exit(libc::WEXITSTATUS(status));
            } else if gone {
                libc::_exit(1);
            }
        }
    }
}
