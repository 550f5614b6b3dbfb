//! Interfaces of the network that the calling thread is in, by the calls of netdevice(7) and
//! rtentry: no more than a box needs of its own.

use std::ffi::c_char;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

fn socket() -> io::Result<OwnedFd> {
    Ok(rustix::net::socket_with(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?)
}

fn request_about(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: ifreq is plain data for which all-zero bytes are a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays 0.
    if name.is_empty() || name.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = c_char::from_ne_bytes([byte]);
    }
    Ok(request)
}

/// The number of a call as ioctl(2) takes it, which C libraries see in two ways.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    trivial_numeric_casts,
    reason = "numbers of calls have 16 bits"
)]
const fn number(call: libc::c_ulong) -> libc::Ioctl {
    call as libc::Ioctl
}

fn ask(socket: &OwnedFd, what: libc::c_ulong, request: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: the kernel reads and writes one ifreq, which lives through the call.
    match unsafe { libc::ioctl(socket.as_raw_fd(), number(what), std::ptr::from_mut(request)) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn plain(ip: Ipv4Addr) -> libc::sockaddr {
    // SAFETY: sockaddr_in is plain data for which all-zero bytes are a valid value.
    let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    address.sin_family = libc::sa_family_t::try_from(libc::AF_INET).unwrap_or_default();
    address.sin_addr.s_addr = u32::from_ne_bytes(ip.octets());
    // SAFETY: both are plain data of 16 bytes (ip(7)).
    unsafe { std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(address) }
}

/// Puts an interface into use.
///
/// # Errors
/// ENODEV if there is none of this name, EPERM without `CAP_NET_ADMIN`.
pub fn up(name: &str) -> io::Result<()> {
    let socket = socket()?;
    let mut request = request_about(name)?;
    ask(&socket, libc::SIOCGIFFLAGS, &mut request)?;
    // SAFETY: SIOCGIFFLAGS wrote this field.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    request.ifr_ifru.ifru_flags = flags | libc::c_short::try_from(libc::IFF_UP).unwrap_or_default();
    ask(&socket, libc::SIOCSIFFLAGS, &mut request)
}

/// Gives an interface an address whose first `prefix` bits are those of its network.
///
/// # Errors
/// As [`up`].
pub fn set_address(name: &str, ip: Ipv4Addr, prefix: u8) -> io::Result<()> {
    let socket = socket()?;
    let mut request = request_about(name)?;
    request.ifr_ifru.ifru_addr = plain(ip);
    ask(&socket, libc::SIOCSIFADDR, &mut request)?;
    let mask = u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0);
    request.ifr_ifru.ifru_netmask = plain(Ipv4Addr::from_bits(mask));
    ask(&socket, libc::SIOCSIFNETMASK, &mut request)
}

/// Adds a way to one address by a gateway.
///
/// # Errors
/// EPERM without `CAP_NET_ADMIN`, ENETUNREACH if the gateway is on no network of ours.
pub fn add_way(to: Ipv4Addr, by: Ipv4Addr) -> io::Result<()> {
    // SAFETY: rtentry is plain data for which all-zero bytes are a valid value.
    let mut way: libc::rtentry = unsafe { std::mem::zeroed() };
    way.rt_dst = plain(to);
    way.rt_genmask = plain(Ipv4Addr::BROADCAST);
    way.rt_gateway = plain(by);
    way.rt_flags = libc::RTF_UP | libc::RTF_GATEWAY | libc::RTF_HOST;
    let socket = socket()?;
    // SAFETY: the kernel reads one rtentry, which lives through the call.
    match unsafe { libc::ioctl(socket.as_raw_fd(), number(libc::SIOCADDRT), &raw const way) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_interface_can_have_is_refused() {
        for name in ["", "longer-than-fifteen-bytes", "no-such-link"] {
            assert!(up(name).is_err(), "{name}");
        }
    }

    #[test]
    fn the_loopback_is_in_use_already_and_stays_so() {
        // Without rights the kernel refuses even that.
        if rustix::process::geteuid().is_root() {
            up("lo").expect("root may");
        }
    }
}
