//! Two ends joined in memory.

use crate::client::{ClientFiles, ClientTls};
use crate::error::Error;
use crate::negotiated::SubjectName;
use crate::server::{ClientAuth, ServerTls};
use crate::testing::{Authority, End, HERE, Moved, Pair, Probe, TIMEOUT, authority, bulk};
use helenus_core::{Pumped, Turn};
use rustls::version::{TLS12, TLS13};
use std::sync::Arc;
use std::time::Duration;

/// A client of one version.
fn client_of(
    authority: &Authority,
    version: &'static rustls::SupportedProtocolVersion,
) -> ClientTls {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = crate::files::authorities(&authority.ca()).unwrap();
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    ClientTls::with_config(Arc::new(config))
}

fn failure(end: &End) -> String {
    end.tls
        .failure
        .as_ref()
        .map(Error::to_string)
        .unwrap_or_default()
}

#[test]
fn both_versions_carry_data_both_ways_however_it_is_cut() {
    let authority = authority();
    for (version, name) in [(&TLS12, "TLSv1.2"), (&TLS13, "TLSv1.3")] {
        for chunk in [1, 2, 5, 1000, usize::MAX] {
            let client = client_of(&authority, version);
            let mut pair = Pair::new(&client, &authority.server("server"));
            pair.chunk = chunk;
            // Said before the handshake: kept until it is over.
            pair.client.tls.say(b"are you there?");
            pair.run();
            let negotiated = pair.server.tls.handshake.clone().flatten().unwrap();
            assert_eq!((negotiated.version, negotiated.is_resumed), (name, false));
            assert_eq!(negotiated.identity, None);
            assert_eq!(&pair.server.tls.input[..], b"are you there?");
            pair.server.tls.say(b"yes, ");
            pair.server.tls.say(b"I am");
            pair.run();
            assert_eq!(&pair.client.tls.input[..], b"yes, I am");
            assert!(pair.client.tls.failure.is_none() && pair.server.tls.failure.is_none());
        }
    }
}

#[test]
fn bulk_goes_both_ways_at_once() {
    let authority = authority();
    for version in [&TLS12, &TLS13] {
        let mut pair = Pair::new(&client_of(&authority, version), &authority.server("server"));
        pair.chunk = 10_000;
        let (up, down) = (bulk(1_000_000), bulk(1_500_001));
        for piece in up.chunks(131_072) {
            pair.client.tls.say(piece);
        }
        for piece in down.chunks(70_001) {
            pair.server.tls.say(piece);
        }
        pair.run();
        assert!(pair.server.tls.input == up);
        assert!(pair.client.tls.input == down);
    }
}

#[test]
fn what_the_socket_does_not_take_is_bounded_and_counted() {
    let authority = authority();
    let mut pair = Pair::new(&authority.client(), &authority.server("server"));
    pair.run();
    for _ in 0..20 {
        pair.server.tls.say(&bulk(100_000));
    }
    // The socket takes a byte at a time.
    let mut taken = Vec::new();
    for _ in 0..50_000 {
        pair.server.round(pair.now, 1, &mut taken);
    }
    assert_eq!(taken.len(), 50_000);
    let left: usize = pair.server.tls.output.iter().map(|piece| piece.len()).sum();
    let sealed = pair.server.tls.unsent;
    assert!(sealed > 0 && sealed <= 80 * 1024, "{sealed}");
    // Records add little.
    let all = left + sealed + taken.len();
    assert!((2_000_000..2_010_000).contains(&all), "{all}");
}

#[test]
fn an_idle_end_holds_no_buffer() {
    let authority = authority();
    let mut pair = Pair::new(&authority.client(), &authority.server("server"));
    pair.client.tls.say(&bulk(300_000));
    pair.run();
    assert_eq!(pair.server.tls.input.len(), 300_000);
    for end in [&pair.client, &pair.server] {
        assert_eq!(end.tls.layer.as_ref().unwrap().held(), 0);
    }
}

#[test]
fn a_driver_that_does_not_read_is_left_alone() {
    let authority = authority();
    let mut pair = Pair::new(&authority.client(), &authority.server("server"));
    pair.run();
    pair.server.tls.refuses_reads = true;
    pair.client.tls.say(b"hello");
    pair.run();
    assert!(pair.server.tls.input.is_empty());
    pair.server.tls.refuses_reads = false;
    pair.run();
    assert_eq!(&pair.server.tls.input[..], b"hello");
}

#[test]
fn a_session_is_resumed() {
    let authority = authority();
    let (client, server) = (authority.client(), authority.server("server"));
    for is_resumed in [false, true] {
        let mut pair = Pair::new(&client, &server);
        pair.server.tls.say(b"hello");
        pair.run();
        assert_eq!(&pair.client.tls.input[..], b"hello");
        let negotiated = pair.server.tls.handshake.clone().flatten().unwrap();
        assert_eq!(negotiated.is_resumed, is_resumed);
        assert!(negotiated.cipher_suite.starts_with("TLS_"));
    }
}

#[test]
fn a_half_closed_peer_is_still_answered_and_told_the_end() {
    let authority = authority();
    for version in [&TLS12, &TLS13] {
        let mut pair = Pair::new(&client_of(&authority, version), &authority.server("server"));
        pair.client.tls.say(b"my last words");
        pair.run();
        pair.client.tls.turns.push_back(Turn::ShutdownWrite);
        pair.run();
        // The end came as an alert before the socket's.
        assert!(pair.server.tls.has_ended && pair.server.is_cut);
        pair.server.tls.say(b"farewell");
        pair.server.tls.turns.push_back(Turn::Wait);
        pair.run();
        assert_eq!(&pair.client.tls.input[..], b"farewell");
        pair.server.tls.turns.push_back(Turn::Close);
        pair.run();
        assert!(pair.client.tls.has_ended);
        assert_eq!(pair.server.last, Turn::Close);
        assert!(pair.client.tls.failure.is_none() && pair.server.tls.failure.is_none());
    }
}

#[test]
fn a_socket_that_ends_without_an_alert_ends_the_input() {
    let authority = authority();
    let mut pair = Pair::new(&authority.client(), &authority.server("server"));
    pair.run();
    pair.server.is_cut = true;
    pair.run();
    assert!(pair.server.tls.has_ended && pair.server.tls.failure.is_none());
}

#[test]
fn a_handshake_that_is_cut_off_fails() {
    let authority = authority();
    let mut pair = Pair::new(&authority.client(), &authority.server("server"));
    let mut hello = Vec::new();
    pair.client.round(pair.now, usize::MAX, &mut hello);
    pair.server.inbox = hello[..100].to_vec();
    pair.server.is_cut = true;
    let mut sent = Vec::new();
    while pair.server.round(pair.now, usize::MAX, &mut sent) == Moved::Bytes {}
    assert_eq!(failure(&pair.server), "the peer ended the TLS handshake");
    assert_eq!(pair.server.last, Turn::Close);
}

#[test]
fn a_handshake_has_a_deadline() {
    let authority = authority();
    let mut pair = Pair::new(&authority.client(), &authority.server("server"));
    let mut hello = Vec::new();
    pair.client.round(pair.now, usize::MAX, &mut hello);
    pair.server.inbox = hello[..hello.len() / 2].to_vec();
    while pair.server.round(pair.now, 1, &mut Vec::new()) == Moved::Bytes {}
    assert_eq!(pair.server.tls.poll_timeout(), Some(pair.now + TIMEOUT));
    let late = pair.now + TIMEOUT;
    assert_eq!(
        pair.server.tls.turn(late - Duration::from_millis(1)),
        Turn::Wait
    );
    assert_eq!(pair.server.tls.turn(late), Turn::Close);
    assert_eq!(failure(&pair.server), "the TLS handshake took too long");
    // Once it is over, there is none.
    let mut pair = Pair::new(&authority.client(), &authority.server("server"));
    pair.run();
    assert_eq!(pair.server.tls.poll_timeout(), None);
}

#[test]
fn orders_to_end_end_a_handshake() {
    let authority = authority();
    for order in [Turn::ShutdownWrite, Turn::Close] {
        let mut server = End::new(authority.server("server").accept(
            Probe::default(),
            std::time::Instant::now(),
            None,
        ));
        server.tls.turns.push_back(order);
        assert_eq!(
            server.round(std::time::Instant::now(), 1, &mut Vec::new()),
            Moved::Shut
        );
        assert_eq!(server.last, Turn::Close);
    }
}

#[test]
fn garbage_is_answered_with_an_alert_and_thrown_away() {
    let authority = authority();
    let mut pair = Pair::new(&authority.client(), &authority.server("server"));
    pair.server.inbox = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec();
    let mut sent = Vec::new();
    while pair.server.round(pair.now, usize::MAX, &mut sent) == Moved::Bytes {}
    assert_eq!(failure(&pair.server), "the peer doesn't speak TLS");
    // A fatal alert: decode_error.
    assert_eq!(sent, [0x15, 3, 3, 0, 2, 2, 50]);
    assert_eq!(pair.server.last, Turn::ShutdownWrite);
    // It is read for a while longer, lest the alert be lost.
    pair.server.inbox = vec![0x42; 10_000];
    while pair.server.round(pair.now, 1000, &mut sent) == Moved::Bytes {}
    assert!(pair.server.inbox.is_empty() && pair.server.last == Turn::Wait);
    let later = pair.now + Duration::from_secs(1);
    assert_eq!(pair.server.tls.poll_timeout(), Some(later));
    assert_eq!(pair.server.tls.turn(later), Turn::Close);
}

#[test]
fn bytes_damaged_on_their_way_end_the_connection() {
    let authority = authority();
    let mut pair = Pair::new(&authority.client(), &authority.server("server"));
    pair.run();
    pair.client.tls.say(b"hello");
    pair.client
        .round(pair.now, usize::MAX, &mut pair.server.inbox);
    *pair.server.inbox.last_mut().unwrap() ^= 1;
    pair.run();
    assert!(pair.server.tls.input.is_empty());
    assert_eq!(
        failure(&pair.server),
        "TLS failed: cannot decrypt peer's message"
    );
    assert!(
        failure(&pair.client).contains("BadRecordMac"),
        "{}",
        failure(&pair.client)
    );
}

#[test]
fn a_client_without_tls_is_told_so_in_cql() {
    let authority = authority();
    for (version, answered) in [(3, 0x83), (4, 0x84), (5, 0x85), (9, 0x84)] {
        let mut pair = Pair::new(&authority.client(), &authority.server("server"));
        // OPTIONS on stream 7.
        pair.server.inbox = vec![version, 0, 0, 7, 5, 0, 0, 0, 0];
        let mut sent = Vec::new();
        while pair.server.round(pair.now, usize::MAX, &mut sent) == Moved::Bytes {}
        assert!(matches!(pair.server.tls.failure, Some(Error::Plaintext)));
        let text = b"This port speaks TLS; connect with TLS";
        let body = [&[0, 0, 0, 0x0A, 0, text.len() as u8], &text[..]].concat();
        let header = [answered, 0, 0, 7, 0, 0, 0, 0, body.len() as u8];
        assert_eq!(sent, [&header[..], &body].concat());
        assert_eq!(pair.server.last, Turn::ShutdownWrite);
    }
}

#[test]
fn where_tls_is_optional_a_client_without_it_is_served() {
    let authority = authority();
    let mut files = authority.server_files("server");
    files.plaintext = true;
    let server = ServerTls::load(&files).unwrap();
    let mut pair = Pair::new(&authority.client(), &server);
    pair.server.inbox = b"\x04 and so on".to_vec();
    pair.chunk = 1;
    pair.client.is_cut = true;
    let mut sent = Vec::new();
    while pair.server.round(pair.now, 1, &mut sent) == Moved::Bytes {}
    assert_eq!(&pair.server.tls.input[..], b"\x04 and so on");
    assert_eq!(pair.server.tls.handshake, Some(None));
    pair.server.tls.say(b"plainly answered");
    while pair.server.round(pair.now, 1, &mut sent) == Moved::Bytes {}
    assert_eq!(sent, b"plainly answered");
    assert!(pair.server.tls.layer.is_none());
    // And one with it as well.
    let mut pair = Pair::new(&authority.client(), &server);
    pair.client.tls.say(b"hello");
    pair.run();
    assert_eq!(&pair.server.tls.input[..], b"hello");
    assert!(matches!(pair.server.tls.handshake, Some(Some(_))));
}

#[test]
fn a_server_is_trusted_by_its_authority_and_the_name_it_is_called_by() {
    let (authority, stranger) = (authority(), authority());
    let told = |client: ClientTls| {
        let mut pair = Pair::new(&client, &authority.server("server"));
        pair.run();
        (failure(&pair.client), failure(&pair.server))
    };
    let named = |name| authority.client().with_server_name(name).unwrap();
    assert_eq!(told(named("db.example.com")), Default::default());
    assert_eq!(told(named("127.0.0.1")), Default::default());
    let (client, server) = told(named("other.example.com"));
    assert!(
        client.contains("certificate not valid for name \"other.example.com\""),
        "{client}"
    );
    assert!(
        server.contains("BadCertificate") || server.contains("CertificateUnknown"),
        "{server}"
    );
    let (client, server) = told(stranger.client());
    assert_eq!(
        client,
        "TLS failed: invalid peer certificate: UnknownIssuer"
    );
    assert!(server.contains("UnknownCA"), "{server}");
    let anyone = ClientTls::load(&ClientFiles::dangerous_trusting_anyone()).unwrap();
    assert_eq!(told(anyone), Default::default());
    assert!(authority.client().with_server_name("not a name").is_err());
}

#[test]
fn an_expired_certificate_is_refused_by_clients() {
    let authority = Authority::new();
    authority.sign("server", -1);
    let mut pair = Pair::new(&authority.client(), &authority.server("server"));
    pair.run();
    assert!(
        failure(&pair.client).contains("certificate expired"),
        "{}",
        failure(&pair.client)
    );
    assert!(
        failure(&pair.server).contains("CertificateExpired"),
        "{}",
        failure(&pair.server)
    );
}

#[test]
fn client_certificates_are_shown_when_they_are_asked_for_and_must_be_good() {
    let (authority, stranger) = (authority(), authority());
    authority.sign("ada", 10);
    stranger.sign("eve", 10);
    let (ada, eve) = (authority.pair("ada"), stranger.pair("eve"));
    for (asked, shown, expected) in [
        (ClientAuth::None, Some(&ada), Ok(None)),
        (ClientAuth::Optional, None, Ok(None)),
        (ClientAuth::Optional, Some(&ada), Ok(Some("CN=ada"))),
        (ClientAuth::Optional, Some(&eve), Err("UnknownIssuer")),
        (ClientAuth::Required, None, Err("peer sent no certificates")),
        (ClientAuth::Required, Some(&ada), Ok(Some("CN=ada"))),
        (ClientAuth::Required, Some(&eve), Err("UnknownIssuer")),
    ] {
        let mut files = authority.server_files("server");
        (files.client_ca, files.client_auth) = (Some(authority.ca()), asked);
        let mut client = authority.client_files();
        if let Some((certificate, key)) = shown {
            client = client.identified_by(certificate, key);
        }
        let client = ClientTls::load(&client).unwrap();
        let mut pair = Pair::new(&client, &ServerTls::load(&files).unwrap());
        pair.client.tls.say(b"hello");
        pair.run();
        match expected {
            Ok(subject) => {
                let negotiated = pair.server.tls.handshake.clone().flatten().unwrap();
                let identity = negotiated.identity;
                assert_eq!(
                    identity.as_ref().map(|who| who.subject()).as_deref(),
                    subject
                );
                assert_eq!(&pair.server.tls.input[..], b"hello");
            }
            Err(reason) => {
                assert!(
                    failure(&pair.server).contains(reason),
                    "{}",
                    failure(&pair.server)
                );
                assert!(pair.server.tls.handshake.is_none() && pair.server.tls.input.is_empty());
                assert!(
                    failure(&pair.client).contains("alert"),
                    "{}",
                    failure(&pair.client)
                );
            }
        }
    }
}

#[test]
fn an_identity_says_what_its_certificate_says() {
    let authority = authority();
    authority.sign("ada", 10);
    let mut files = authority.server_files("server");
    (files.client_ca, files.client_auth) = (Some(authority.ca()), ClientAuth::Required);
    let (certificate, key) = authority.pair("ada");
    let client = authority.client_files().identified_by(&certificate, key);
    let client = ClientTls::load(&client).unwrap();
    let mut pair = Pair::new(&client, &ServerTls::load(&files).unwrap());
    pair.run();
    let negotiated = pair.server.tls.handshake.clone().flatten().unwrap();
    let ada = negotiated.identity.unwrap();
    assert_eq!(ada.common_name().as_deref(), Some("ada"));
    assert_eq!(
        ada.names(),
        [
            SubjectName::Dns("db.example.com".to_owned()),
            SubjectName::Ip(HERE),
            SubjectName::Uri("spiffe://example.com/ada".to_owned()),
        ]
    );
    let chain = crate::files::certificates(&certificate).unwrap();
    assert!(ada.chain().eq(chain.iter().map(|one| &one[..])));
    assert_eq!(
        format!("{ada:?}"),
        "PeerIdentity { subject: \"CN=ada\", .. }"
    );
}

#[test]
fn a_replaced_certificate_is_for_new_connections_and_open_ones_stay() {
    let (old, new) = (authority(), authority());
    let server = old.server("server");
    let mut open = Pair::new(&old.client(), &server);
    open.run();
    server.clone().replace(&new.server("server"));
    let mut refused = Pair::new(&old.client(), &server);
    refused.run();
    assert!(failure(&refused.client).contains("UnknownIssuer"));
    let mut taken = Pair::new(&new.client(), &server);
    taken.client.tls.say(b"with the new one");
    taken.run();
    assert_eq!(&taken.server.tls.input[..], b"with the new one");
    open.client.tls.say(b"still here");
    open.run();
    assert_eq!(&open.server.tls.input[..], b"still here");
}

#[test]
fn every_byte_of_a_handshake_may_be_damaged() {
    let authority = authority();
    let (client, server) = (authority.client(), authority.server("server"));
    let mut pair = Pair::new(&client, &server);
    let mut hello = Vec::new();
    pair.client.round(pair.now, usize::MAX, &mut hello);
    for at in 0..hello.len() {
        for bit in [0x01, 0x80] {
            let mut damaged = hello.clone();
            damaged[at] ^= bit;
            let mut end = End::new(server.accept(Probe::default(), pair.now, Some(TIMEOUT)));
            end.inbox = damaged;
            let mut sent = Vec::new();
            for _ in 0..100 {
                if end.round(pair.now, usize::MAX, &mut sent) != Moved::Bytes {
                    break;
                }
            }
            // It waits for the rest, goes on with the handshake or has failed; nothing was handed up.
            assert!(end.tls.handshake.is_none() && end.tls.input.is_empty());
        }
    }
}
