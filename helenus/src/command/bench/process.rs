//! The process that listens on an address of this machine, and the CPU time it takes, by Linux's /proc.

use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

/// Linux counts CPU time in hundredths of a second, on every architecture.
const TICK: Duration = Duration::from_millis(10);

/// How `/proc/net/tcp` says that a socket listens.
const LISTENS: &str = "0A";

/// User and system time that a process has used, dead threads included, to a hundredth of a second.
pub(super) fn cpu_time(pid: u32) -> io::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    parse_stat(&stat).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The times stand in the 14th and 15th field; the second, the command's name, may hold anything.
fn parse_stat(stat: &str) -> Option<Duration> {
    let fields = stat.rsplit_once(')')?.1;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<u32>);
    let user = times.next()?.ok()?;
    let system = times.next()?.ok()?;
    Some(TICK * user.checked_add(system)?)
}

/// Who listens on this address, if it is one of this machine's and /proc may be read.
pub(super) fn listener(address: SocketAddr) -> Option<u32> {
    if !is_local(address.ip()) {
        return None;
    }
    let inode = ["/proc/net/tcp", "/proc/net/tcp6"]
        .into_iter()
        .filter_map(|file| fs::read_to_string(file).ok())
        .find_map(|table| listening_inode(&table, address))?;
    let wanted = format!("socket:[{inode}]");
    let pids = fs::read_dir("/proc").ok()?.flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .find(|pid| {
            let files = fs::read_dir(format!("/proc/{pid}/fd"));
            files.is_ok_and(|files| {
                files
                    .flatten()
                    .filter_map(|file| fs::read_link(file.path()).ok())
                    .any(|link| link.to_str() == Some(&wanted))
            })
        })
}

/// Whether packets to this address stay on this machine: then they come from it too.
fn is_local(ip: IpAddr) -> bool {
    let source = || {
        let any: IpAddr = match ip {
            IpAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket = UdpSocket::bind((any, 0)).ok()?;
        socket.connect((ip, 9)).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    ip.is_loopback() || source() == Some(ip)
}

/// The inode of the socket that listens on this address, or on every address of its port.
fn listening_inode(table: &str, address: SocketAddr) -> Option<u64> {
    let found = table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (local, port) = fields.get(1)?.split_once(':')?;
        let is_wanted =
            *fields.get(3)? == LISTENS && u16::from_str_radix(port, 16).ok()? == address.port();
        let ip = parse_ip(local)?;
        let inode = fields.get(9)?.parse().ok()?;
        (is_wanted && (ip == address.ip() || ip.is_unspecified())).then_some((ip, inode))
    });
    // Who listens on the very address goes before who listens on all.
    found
        .max_by_key(|(ip, _)| !ip.is_unspecified())
        .map(|(_, inode)| inode)
}

/// Words of four bytes, each as a number of the machine's own order.
fn parse_ip(hex: &str) -> Option<IpAddr> {
    let mut bytes = [0; 16];
    let words = hex.len() / 8;
    for (word, place) in bytes.chunks_exact_mut(4).take(words).enumerate() {
        let digits = hex.get(8 * word..8 * word + 8)?;
        place.copy_from_slice(&u32::from_str_radix(digits, 16).ok()?.to_ne_bytes());
    }
    match words {
        1 => <[u8; 4]>::try_from(&bytes[..4]).ok().map(IpAddr::from),
        4 => Some(IpAddr::from(bytes).to_canonical()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_are_found_behind_any_name() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 100 0 0 0 12 34 5 6 20 0 1 0 99 1 1";
        assert_eq!(parse_stat(stat), Some(Duration::from_millis(460)));
        assert_eq!(parse_stat("7 (a) S 1"), None);
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn who_listens_on_the_address_goes_before_who_listens_on_all() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 00000000:2352 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 11 1\n\
            1: 0100007F:2352 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 12 1\n\
            2: 0100007F:2352 0100007F:1234 01 00000000:00000000 00:00000000 00000000 0 0 13 1\n";
        let inode = |address: &str| listening_inode(table, address.parse().unwrap());
        assert_eq!(inode("127.0.0.1:9042"), Some(12));
        assert_eq!(inode("127.0.0.2:9042"), Some(11));
        assert_eq!(inode("127.0.0.1:9043"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_found_by_what_it_listens_on() {
        let listener_socket = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener_socket.local_addr().unwrap();
        assert_eq!(listener(address), Some(std::process::id()));
        assert!(cpu_time(std::process::id()).is_ok());
        drop(listener_socket);
        assert_eq!(listener(address), None);
    }
}
