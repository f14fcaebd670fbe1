//! Internet addresses as Java reads them, without asking a name server.

use std::net::{Ipv4Addr, Ipv6Addr};

/// An address in 4 or 16 bytes; none at all for an empty text.
pub(super) fn parse(text: &str) -> Result<Vec<u8>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let address = match bare {
        None => v4(text).map(|address| address.octets().to_vec()),
        Some(_) => None,
    };
    address
        .or_else(|| v6(bare.unwrap_or(text)))
        .ok_or_else(|| format!("Unable to make inet address from '{text}'"))
}

fn v6(text: &str) -> Option<Vec<u8>> {
    let address: Ipv6Addr = text.parse().ok()?;
    Some(match address.to_ipv4_mapped() {
        Some(mapped) => mapped.octets().to_vec(),
        None => address.octets().to_vec(),
    })
}

/// One to four decimal numbers; the last one fills the bytes that are left.
fn v4(text: &str) -> Option<Ipv4Addr> {
    let mut parts = text.split('.').collect::<Vec<_>>();
    let last = parts.pop()?;
    let number = |part: &str| match part.bytes().all(|byte| byte.is_ascii_digit()) {
        true => part.parse::<u32>().ok(),
        false => None,
    };
    let mut address = 0u32;
    for (index, part) in parts.iter().enumerate() {
        let byte = number(part).filter(|&byte| byte <= 255 && index < 3)?;
        address |= byte << (24 - 8 * index);
    }
    let room = u32::MAX.checked_shr(8 * u32::try_from(parts.len()).ok()?)?;
    let rest = number(last).filter(|&rest| rest <= room)?;
    Some(Ipv4Addr::from_bits(address | rest))
}
