//! What a connection counts of requests and ERRORs, and keeps of STARTUP.

use super::*;

#[test]
fn answers_are_counted_by_the_opcode_of_their_request() {
    let mut server = ready(4, ServerConfig::default(), DEFER());
    server.receive(&options(4, 1), Cuts::Whole);
    server.receive(&pipeline(4, 2..5), Cuts::Whole);
    let answered = |server: &Server, opcode| server.connection.stats().answered.get(opcode);
    assert_eq!(answered(&server, Opcode::STARTUP), 1);
    assert_eq!(answered(&server, Opcode::OPTIONS), 1);
    assert_eq!(answered(&server, Opcode::QUERY), 0);
    for reply in replies() {
        reply.send(Response::Void);
    }
    deliver(&mut server);
    assert_eq!(answered(&server, Opcode::QUERY), 3);
    let stats = server.connection.stats();
    assert_eq!(
        stats.responses,
        stats.answered.as_array().iter().sum::<u64>()
    );
}

#[test]
fn errors_are_counted_by_their_code() {
    let overloaded = || {
        let error = ErrorResponse::new(ErrorCode::OVERLOADED, "too much");
        Response::Error(error)
    };
    let mut server = ready(
        4,
        ServerConfig::default(),
        Box::new(move |_, responder| responder.send(overloaded())),
    );
    server.receive(&pipeline(4, 1..3), Cuts::Whole);
    // A second STARTUP may not come.
    server.receive(&startup(4, &[]), Cuts::Whole);
    let stats = server.connection.stats();
    assert_eq!(stats.error_codes.get(ErrorCode::OVERLOADED), 2);
    assert_eq!(stats.error_codes.get(ErrorCode::PROTOCOL_ERROR), 1);
    assert_eq!(stats.errors, 3);
}

#[test]
fn a_deferred_request_knows_what_it_was_and_when_it_was_taken() {
    let mut server = ready(4, ServerConfig::default(), DEFER());
    let taken = server.clock.now();
    server.receive(&query(4, 7, "SELECT 1"), Cuts::Whole);
    server.clock.advance(Duration::from_secs(3));
    drop(replies());
    let (ticket, ..) = server.mailbox.take().remove(0);
    assert_eq!((ticket.opcode(), ticket.taken()), (Opcode::QUERY, taken));
}

#[test]
fn the_options_of_a_client_are_given_away_once_and_not_without_bound() {
    let mut server = Server::new(ServerConfig::default(), VOID());
    let long = "x".repeat(5000);
    let said = [("DRIVER_NAME", "probe"), ("APPLICATION_NAME", &long)];
    server.receive(&startup(4, &said), Cuts::Whole);
    let options = server.connection.take_client_options().unwrap();
    let names: Vec<&str> = options.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["CQL_VERSION", "DRIVER_NAME"]);
    assert_eq!(server.connection.take_client_options(), None);
}

#[test]
fn bytes_that_are_refused_on_their_header_are_counted_as_they_come() {
    let config = || limited(|limits| limits.max_message = Some(300));
    let long = |version| query(version, 7, &"x".repeat(400));
    let discarded = |server: &Server| server.connection.stats().bytes_discarded;

    let mut server = ready(4, limited(|limits| limits.max_envelope = 300), VOID());
    server.receive(&long(4)[..200], Cuts::BYTES);
    assert_eq!(discarded(&server), 200);
    server.receive(&long(4)[200..], Cuts::Whole);
    server.receive(&options(4, 8), Cuts::Whole);
    assert_eq!(discarded(&server), long(4).len() as u64);

    let mut server = ready(5, config(), VOID());
    let together = [long(5), options(5, 8)].concat();
    let run = segment(SegmentFormat::Plain, true, &together);
    server.receive(&run, Cuts::Whole);
    assert_eq!(discarded(&server), long(5).len() as u64);

    let mut server = ready(5, config(), VOID());
    let parts = long(5);
    let parts = parts.chunks(100).map(|part| {
        let part = segment(SegmentFormat::Plain, false, part);
        server.receive(&part, Cuts::Whole);
        discarded(&server)
    });
    let length = long(5).len() as u64;
    assert_eq!(
        parts.collect::<Vec<_>>(),
        [100, 200, 300, 400, length.min(500)]
    );
}

#[test]
fn what_came_of_a_message_of_several_segments_is_told() {
    let mut server = ready(5, ServerConfig::default(), VOID());
    let long = query(5, 7, &"x".repeat(1000));
    let (head, tail) = long.split_at(600);
    server.receive(&segment(SegmentFormat::Plain, false, head), Cuts::Whole);
    // The header is taken at once.
    assert_eq!(server.connection.gathered(), 600 - 9);
    server.receive(&segment(SegmentFormat::Plain, false, tail), Cuts::Whole);
    assert_eq!(got(&mut server)[0].opcode, Opcode::RESULT);
    assert_eq!(server.connection.gathered(), 0);
}
