//! The shape of a cluster: which nodes there are, where they listen, which data centre each is in and where its tokens
//! lie. All of it follows from the address of the first node, so that a cluster that ended and came back is the same.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

use helenus_engine::system::NodeInfo;

use crate::embedded::host_id;

/// The most nodes of a cluster in one process.
pub(crate) const MOST_NODES: usize = 64;

/// The nodes of a cluster: those of the data centres by turns, with consecutive addresses and evenly spread tokens.
///
/// # Errors
/// When there are no consecutive IPv4 addresses from the first one on, or too many nodes are asked for.
pub(crate) fn nodes(
    first: SocketAddr,
    nodes: usize,
    data_centres: usize,
) -> io::Result<Vec<NodeInfo>> {
    let refused = |text: String| io::Error::new(io::ErrorKind::InvalidInput, text);
    let count = nodes.saturating_mul(data_centres);
    if !(1..=MOST_NODES).contains(&count) {
        return Err(refused(format!(
            "a cluster has from 1 to {MOST_NODES} nodes, not {count}"
        )));
    }
    let addresses = addresses(first.ip(), count).ok_or_else(|| {
        refused(format!(
            "{count} nodes need consecutive IPv4 addresses, each of its own; there aren't so many from {} on",
            first.ip()
        ))
    })?;
    let step = (1_u128 << 64) / count as u128;
    let node = |(place, address): (usize, Ipv4Addr)| {
        let address = SocketAddr::new(address.into(), first.port());
        let mut node = NodeInfo::new(address.ip(), address.port(), host_id(address));
        node.data_center = format!("datacenter{}", place % data_centres + 1);
        node.tokens = vec![token(place as u128 * step)];
        node
    };
    Ok(addresses.into_iter().enumerate().map(node).collect())
}

/// The token so far along the ring.
fn token(place: u128) -> i64 {
    (place as u64 ^ (1 << 63)).cast_signed()
}

/// So many addresses of one network's last byte.
fn addresses(first: IpAddr, count: usize) -> Option<Vec<Ipv4Addr>> {
    let IpAddr::V4(first) = first else {
        return (count == 1).then(Vec::new);
    };
    let [a, b, c, last] = first.octets();
    if count > 1 && (first.is_unspecified() || usize::from(last) + count > 255) {
        return None;
    }
    let count = u8::try_from(count).ok()?;
    let address = |offset| Ipv4Addr::new(a, b, c, last.saturating_add(offset));
    Some((0..count).map(address).collect())
}

/// The port that the nodes are to listen on, or one that is free on all their addresses if that is 0.
///
/// # Errors
/// When one of them can't be listened on.
pub(crate) fn free_port(nodes: &[NodeInfo]) -> io::Result<u16> {
    let is_given = nodes.first().is_some_and(|node| node.port != 0);
    let mut outcome = listen(nodes);
    for _ in 1..ATTEMPTS {
        match &outcome {
            Err(error) if !is_given && error.kind() == io::ErrorKind::AddrInUse => {
                outcome = listen(nodes);
            }
            _ => break,
        }
    }
    outcome
}

/// How many ports are tried that may be taken on some of the addresses.
const ATTEMPTS: usize = 16;

/// Listens on all addresses at one port for a moment.
fn listen(nodes: &[NodeInfo]) -> io::Result<u16> {
    let mut port = nodes.first().map_or(0, |node| node.port);
    let mut listeners = Vec::with_capacity(nodes.len());
    for node in nodes {
        let address = SocketAddr::new(node.address, port);
        let listener = TcpListener::bind(address).map_err(|error| {
            let text = format!("cannot listen on {address}: {error}");
            explain(io::Error::new(error.kind(), text), node.address)
        })?;
        port = listener.local_addr()?.port();
        listeners.push(listener);
    }
    Ok(port)
}

/// Why a node can't listen: for an address that the machine doesn't have, with how to add it.
pub(crate) fn explain(error: io::Error, address: IpAddr) -> io::Error {
    if error.kind() != io::ErrorKind::AddrNotAvailable {
        return error;
    }
    let command = match cfg!(target_os = "macos") {
        true => format!("sudo ifconfig lo0 alias {address} up"),
        false => format!("sudo ip address add {address}/8 dev lo"),
    };
    io::Error::new(
        error.kind(),
        format!("{error}; each node needs an address of its own: add it by `{command}`"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(listen: &str, count: usize, data_centres: usize) -> Vec<(String, String, i64)> {
        let nodes = nodes(listen.parse().unwrap(), count, data_centres).unwrap();
        let row = |node: &NodeInfo| {
            (
                format!("{}:{}", node.address, node.port),
                node.data_center.clone(),
                node.tokens[0],
            )
        };
        nodes.iter().map(row).collect()
    }

    #[test]
    fn nodes_have_consecutive_addresses_and_evenly_spread_tokens() {
        let row = |address: &str, dc: &str, token| (address.to_owned(), dc.to_owned(), token);
        assert_eq!(
            shape("127.0.0.1:9042", 3, 1),
            [
                row("127.0.0.1:9042", "datacenter1", i64::MIN),
                row("127.0.0.2:9042", "datacenter1", -3074457345618258603),
                row("127.0.0.3:9042", "datacenter1", 3074457345618258602),
            ]
        );
    }

    #[test]
    fn data_centres_take_turns_on_the_ring() {
        let nodes = shape("127.0.0.10:9000", 2, 2);
        let centres: Vec<_> = nodes.iter().map(|(_, centre, _)| &**centre).collect();
        assert_eq!(
            centres,
            ["datacenter1", "datacenter2", "datacenter1", "datacenter2"]
        );
        assert!(nodes.iter().map(|(_, _, token)| token).is_sorted());
    }

    #[test]
    fn nodes_keep_their_identities() {
        let ids = |port| {
            let listen = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
            let nodes = nodes(listen, 3, 1).unwrap();
            nodes.iter().map(|node| node.host_id).collect::<Vec<_>>()
        };
        assert_eq!(ids(9042), ids(9042));
        assert_ne!(ids(9042), ids(9043));
        assert_ne!(ids(9042)[0], ids(9042)[1]);
    }

    #[test]
    fn what_has_no_room_for_so_many_nodes_is_refused() {
        for (listen, count, data_centres) in [
            ("127.0.0.253:9042", 3, 1),
            ("0.0.0.0:9042", 3, 1),
            ("[::1]:9042", 3, 1),
            ("127.0.0.1:9042", 33, 2),
            ("127.0.0.1:9042", 0, 1),
            ("127.0.0.1:9042", usize::MAX, 2),
        ] {
            assert!(
                nodes(listen.parse().unwrap(), count, data_centres).is_err(),
                "{listen} {count} {data_centres}"
            );
        }
    }

    #[test]
    fn a_missing_address_is_explained() {
        let missing = io::Error::new(io::ErrorKind::AddrNotAvailable, "cannot listen");
        let text = explain(missing, Ipv4Addr::new(127, 0, 0, 2).into()).to_string();
        assert!(text.starts_with("cannot listen; each node"), "{text}");
        assert!(text.contains("127.0.0.2"), "{text}");
        let other = explain(io::Error::other("no"), Ipv4Addr::LOCALHOST.into());
        assert_eq!(other.to_string(), "no");
    }
}
