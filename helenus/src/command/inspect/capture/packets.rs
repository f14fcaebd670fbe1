//! Captures of packets, pcap and pcapng: link layer, IP and TCP headers taken off, the streams put together.

use std::collections::VecDeque;
use std::io::Read;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};

use super::tcp::{Reassembly, Segment};
use super::{CaptureError, Piece};

/// Room for a block at first; it grows to [`MAX_BLOCK`].
const BLOCK: usize = 256 << 10;
/// The longest block that is read.
const MAX_BLOCK: usize = 4 << 20;

/// What a packet begins with, and how its times count.
#[derive(Debug, Clone, Copy)]
struct Interface {
    link: Linktype,
    /// Units of a second.
    resolution: u64,
    /// Seconds to add.
    offset: i64,
}

/// Reads packets, and the connections to one port in them.
pub(in crate::command::inspect) struct Packets<'r> {
    reader: Option<Box<dyn PcapReaderIterator + Send + 'r>>,
    capacity: usize,
    interfaces: Vec<Interface>,
    reassembly: Reassembly,
    ready: VecDeque<Piece>,
}

impl<'r> Packets<'r> {
    /// The packets to and from this port.
    pub(in crate::command::inspect) fn new(
        reader: impl Read + Send + 'r,
        port: u16,
    ) -> Result<Self, CaptureError> {
        let reader = create_reader(BLOCK, reader)
            .map_err(|error| CaptureError::Packets(error.to_string()))?;
        Ok(Self {
            reader: Some(reader),
            capacity: BLOCK,
            interfaces: Vec::new(),
            reassembly: Reassembly::new(port),
            ready: VecDeque::new(),
        })
    }

    /// Reads a block. `false` at the end.
    fn advance(&mut self) -> Result<bool, CaptureError> {
        let Some(reader) = &mut self.reader else {
            return Ok(false);
        };
        let failure = match reader.next() {
            Ok((length, block)) => {
                if let Some((time, segment)) = read_block(&block, &mut self.interfaces) {
                    self.reassembly.take(time, segment, &mut self.ready);
                }
                drop(block);
                reader.consume(length);
                return Ok(true);
            }
            Err(PcapError::Incomplete(_)) => match reader.refill() {
                Ok(()) => return Ok(true),
                Err(error) => Some(error.to_string()),
            },
            Err(PcapError::BufferTooSmall) if self.capacity < MAX_BLOCK => {
                self.capacity *= 2;
                if reader.grow(self.capacity) {
                    return Ok(true);
                }
                Some("a block is too long".to_owned())
            }
            Err(PcapError::Eof) => None,
            Err(PcapError::UnexpectedEof) => Some("it ends within a packet".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        // Nothing can be read behind it; what was read is still worth telling.
        self.reader = None;
        self.reassembly.finish(&mut self.ready);
        failure.map_or(Ok(true), |why| Err(CaptureError::Packets(why)))
    }
}

impl Iterator for Packets<'_> {
    type Item = Result<Piece, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Some(Ok(piece));
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// The TCP segment in a block, and when it was captured.
fn read_block(
    block: &PcapBlockOwned<'_>,
    interfaces: &mut Vec<Interface>,
) -> Option<(Option<Duration>, Segment)> {
    match block {
        PcapBlockOwned::LegacyHeader(header) => {
            let resolution = if header.is_nanosecond_precision() {
                1_000_000_000
            } else {
                1_000_000
            };
            interfaces.push(Interface {
                link: header.network,
                resolution,
                offset: 0,
            });
            None
        }
        PcapBlockOwned::Legacy(packet) => {
            let interface = interfaces.first()?;
            let fraction = u64::from(packet.ts_usec) * (1_000_000_000 / interface.resolution);
            let time = Duration::from_secs(packet.ts_sec.into()) + Duration::from_nanos(fraction);
            Some((Some(time), read_packet(interface.link, packet.data)?))
        }
        PcapBlockOwned::NG(Block::SectionHeader(_)) => {
            interfaces.clear();
            None
        }
        PcapBlockOwned::NG(Block::InterfaceDescription(described)) => {
            let resolution = described.ts_resolution().filter(|units| *units > 0);
            interfaces.push(Interface {
                link: described.linktype,
                resolution: resolution.unwrap_or(1_000_000),
                offset: described.ts_offset(),
            });
            None
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
            let interface = interfaces.get(packet.if_id as usize)?;
            let units = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
            let time = instant(units, interface);
            Some((
                Some(time),
                read_packet(interface.link, packet.packet_data())?,
            ))
        }
        PcapBlockOwned::NG(Block::SimplePacket(packet)) => Some((
            None,
            read_packet(interfaces.first()?.link, packet.packet_data())?,
        )),
        PcapBlockOwned::NG(_) => None,
    }
}

fn instant(units: u64, interface: &Interface) -> Duration {
    let (seconds, fraction) = (units / interface.resolution, units % interface.resolution);
    let nanoseconds = u128::from(fraction) * 1_000_000_000 / u128::from(interface.resolution);
    let seconds = seconds.saturating_add_signed(interface.offset);
    Duration::new(seconds, nanoseconds as u32)
}

/// The TCP segment in a packet.
fn read_packet(link: Linktype, data: &[u8]) -> Option<Segment> {
    let sliced = match link {
        Linktype::ETHERNET => LaxSlicedPacket::from_ethernet(data).ok()?,
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 => LaxSlicedPacket::from_ip(data).ok()?,
        // Four bytes say which protocol follows, in an order of their own; IP says so by itself.
        Linktype::NULL | Linktype::LOOP => LaxSlicedPacket::from_ip(data.get(4..)?).ok()?,
        Linktype::LINUX_SLL => from_cooked(data, 14, 16)?,
        Linktype::LINUX_SLL2 => from_cooked(data, 0, 20)?,
        _ => return None,
    };
    let (source, target) = match sliced.net.as_ref()? {
        LaxNetSlice::Ipv4(packet) => {
            let header = packet.header();
            (
                header.source_addr().into(),
                header.destination_addr().into(),
            )
        }
        LaxNetSlice::Ipv6(packet) => {
            let header = packet.header();
            (
                header.source_addr().into(),
                header.destination_addr().into(),
            )
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else {
        return None;
    };
    Some(Segment {
        source: SocketAddr::new(source, tcp.source_port()),
        target: SocketAddr::new(target, tcp.destination_port()),
        sequence: tcp.sequence_number(),
        syn: tcp.syn(),
        ends: tcp.fin() || tcp.rst(),
        payload: Bytes::copy_from_slice(tcp.payload()),
    })
}

/// Linux's cooked captures: the ether type stands at `at`, the packet behind `header` bytes.
fn from_cooked(data: &[u8], at: usize, header: usize) -> Option<LaxSlicedPacket<'_>> {
    let ether_type = u16::from_be_bytes(*data.get(at..)?.first_chunk::<2>()?);
    Some(LaxSlicedPacket::from_ether_type(
        EtherType(ether_type),
        data.get(header..)?,
    ))
}
