//! What a server connection answers by itself: OPTIONS, STARTUP, REGISTER, and an AUTH_RESPONSE that nobody
//! asked for.

use bytes::BufMut;

use super::config::ServerConfig;
use super::exchange::Exchange;
use super::request::Request;
use super::subscriptions::Subscriptions;
use crate::codes::{Opcode, ProtocolVersion};
use crate::compression::Compression;
use crate::error::{Error, PeerMisbehaved};
use crate::framing::Framing;
use crate::message::{Register, Startup};
use crate::segment::SegmentFormat;
use crate::wire::WireWrite;

/// What STARTUP settles besides the version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Agreement {
    pub(crate) framing: Framing,
    /// Whether the client wants OVERLOADED rather than backpressure.
    pub(crate) throw_on_overload: bool,
}

/// What a client said of itself in STARTUP: names and values, as they came.
pub type ClientOptions = Box<[(Box<str>, Box<str>)]>;

/// Bytes of names and values that are kept of a STARTUP: those of drivers have some hundred.
const KEPT_OPTIONS: usize = 4096;

/// The options of a STARTUP to keep: the first ones, so far as there is room for them.
fn kept(startup: &Startup<'_>) -> ClientOptions {
    let mut left = KEPT_OPTIONS;
    let options = startup.options.iter().take_while(|(name, value)| {
        let fits = left.checked_sub(name.len() + value.len());
        left = fits.unwrap_or_default();
        fits.is_some()
    });
    options
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

/// The lowest CQL version that is taken. Cassandra takes any from here on, 4.0.0 too.
const MIN_CQL_VERSION: (u32, u32) = (2, 99);

/// Judges a STARTUP. The compression's name ignores case.
pub(crate) fn agree(
    config: &ServerConfig,
    version: ProtocolVersion,
    startup: &Startup<'_>,
) -> Result<Agreement, PeerMisbehaved> {
    let cql_version = startup.option(Startup::CQL_VERSION);
    check_cql_version(cql_version.ok_or(PeerMisbehaved::MissingCqlVersion)?)?;
    let compression = match startup.option(Startup::COMPRESSION) {
        None => None,
        Some(name) => Some(
            config
                .compression(name)
                .ok_or_else(|| PeerMisbehaved::UnknownCompression(excerpt(name)))?,
        ),
    };
    let framing = match (version, compression) {
        (ProtocolVersion::V5, Some(Compression::Snappy)) => return Err(PeerMisbehaved::SnappyInV5),
        (ProtocolVersion::V5, Some(Compression::Lz4)) => Framing::Segments(SegmentFormat::Lz4),
        (ProtocolVersion::V5, None) => Framing::Segments(SegmentFormat::Plain),
        (_, compression) => Framing::Bare(compression),
    };
    Ok(Agreement {
        framing,
        throw_on_overload: startup.option(Startup::THROW_ON_OVERLOAD) == Some("1"),
    })
}

fn check_cql_version(text: &str) -> Result<(), PeerMisbehaved> {
    match parse_cql_version(text) {
        None => Err(PeerMisbehaved::InvalidCqlVersion(excerpt(text))),
        Some(version) if version < MIN_CQL_VERSION => {
            Err(PeerMisbehaved::UnsupportedCqlVersion(excerpt(text)))
        }
        Some(_) => Ok(()),
    }
}

/// Major and minor number of `major.minor[.patch…][-pre-release][+build]`.
fn parse_cql_version(text: &str) -> Option<(u32, u32)> {
    let (major, rest) = text.split_once('.')?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (minor, rest) = rest.split_at(end);
    let number = |digits: &str| {
        (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| digits.parse().ok())
            .flatten()
    };
    let suffix_fits = rest.is_empty()
        || rest.len() > 1
            && rest.starts_with(['.', '-', '+'])
            && rest
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte));
    suffix_fits.then_some((number(major)?, number(minor)?))
}

/// As much of a peer's text as an ERROR repeats.
fn excerpt(text: &str) -> Box<str> {
    const LONGEST: usize = 256;
    text.get(..text.floor_char_boundary(LONGEST))
        .unwrap_or_default()
        .into()
}

/// Where a token stands in a body; `None` if it is null.
pub(crate) type TokenRange = Option<(usize, usize)>;

/// The token of an AUTH_RESPONSE.
pub(crate) fn token_range(request: &Request<'_>) -> Result<TokenRange, Error> {
    let mut reader = request.reader()?;
    Ok(reader.bytes()?.map(|token| {
        let end = reader.position();
        (end.saturating_sub(token.len()), end)
    }))
}

/// OPTIONS: its body is ignored, whatever it holds.
pub(crate) fn options(
    config: &ServerConfig,
    exchange: &mut Exchange,
    request: &Request<'_>,
) -> Result<(), Error> {
    if request.has_payload() && request.version() < ProtocolVersion::V4 {
        return Err(PeerMisbehaved::PayloadBeforeV4.into());
    }
    exchange.reply(request, Opcode::SUPPORTED, |out| {
        config.write_supported(out)
    });
    Ok(())
}

/// STARTUP: READY, or AUTHENTICATE where an authenticator is configured. That answer is the last thing
/// framed in the old way.
pub(crate) fn startup(
    config: &ServerConfig,
    exchange: &mut Exchange,
    request: &Request<'_>,
) -> Result<(Agreement, ClientOptions), Error> {
    let startup = Startup::decode(&mut request.reader()?)?;
    let agreement = agree(config, request.version(), &startup)?;
    match &config.authenticator {
        None => exchange.reply(request, Opcode::READY, |_| ()),
        Some(class) => exchange.reply(request, Opcode::AUTHENTICATE, |out| out.put_string(class)),
    }
    exchange.agreed = Some(request.dialect());
    exchange.segmented = matches!(agreement.framing, Framing::Segments(_));
    exchange.outbound.switch(agreement.framing);
    Ok((agreement, kept(&startup)))
}

/// REGISTER: READY. What an earlier one asked for stays.
pub(crate) fn register(
    subscriptions: &mut Subscriptions,
    exchange: &mut Exchange,
    request: &Request<'_>,
) -> Result<(), Error> {
    let register = Register::decode(&mut request.reader()?, request.version())?;
    for event in register.event_types() {
        subscriptions.insert(event);
    }
    exchange.reply(request, Opcode::READY, |_| ());
    Ok(())
}

/// An AUTH_RESPONSE where nobody authenticates: AUTH_SUCCESS with a null token, as Cassandra does.
pub(crate) fn needless_token(exchange: &mut Exchange, request: &Request<'_>) -> Result<(), Error> {
    token_range(request)?;
    exchange.reply(request, Opcode::AUTH_SUCCESS, |out| out.put_i32(-1));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cql_versions_are_judged_as_cassandra_does() {
        for good in [
            "3.0.0",
            "3.4.7",
            "3.99.99",
            "4.0.0",
            "3.0",
            "2.99.0",
            "3.4.5-beta+1",
        ] {
            assert_eq!(check_cql_version(good), Ok(()), "{good}");
        }
        for bad in [
            "3",
            "",
            "abc",
            "3.",
            ".0",
            "3.x",
            "3.0.",
            "99999999999.0",
            "3.0 0",
        ] {
            let error = Err(PeerMisbehaved::InvalidCqlVersion(bad.into()));
            assert_eq!(check_cql_version(bad), error, "{bad}");
        }
        let error = Err(PeerMisbehaved::UnsupportedCqlVersion("2.0.0".into()));
        assert_eq!(check_cql_version("2.0.0"), error);
    }

    #[test]
    fn a_long_text_is_repeated_in_part() {
        assert_eq!(excerpt(&"ä".repeat(1000)).len(), 256);
        assert_eq!(&*excerpt("zz"), "zz");
    }
}
