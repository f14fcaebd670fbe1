//! Logins through a driver without a socket.

use super::*;
use crate::driver::Driver;
use crate::options::Options;
use crate::testing::{answers, feed, output, query, startup};
use helenus_core::{Pumped, Request};
use helenus_tls::MaybeTls;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

const ERROR: u8 = 0x00;
const AUTHENTICATE: u8 = 0x03;
const RESULT: u8 = 0x08;
const AUTH_SUCCESS: u8 = 0x10;

/// Takes each token for the name of a role, but `nobody`; those that begin with `slow` when it is told to.
struct Names {
    verified: AtomicUsize,
    gate: Mutex<Receiver<()>>,
}

impl Authenticator for Names {
    fn name(&self) -> &str {
        "org.example.Names"
    }

    fn verify(&self, login: &Login) -> Result<Identity, ErrorResponse> {
        self.verified.fetch_add(1, Ordering::SeqCst);
        let _ = self.gate.lock().unwrap().recv();
        self.verify_at_once(&Login {
            token: login.token.as_ref().map(|token| Box::from(&token[4..])),
            ..login.clone()
        })
        .unwrap()
    }

    fn verify_at_once(&self, login: &Login) -> Option<Result<Identity, ErrorResponse>> {
        let name = std::str::from_utf8(login.token.as_deref().unwrap_or_default()).unwrap();
        match name {
            "nobody" => Some(Err(ErrorResponse::bad_credentials("Nobody may enter"))),
            _ if name.starts_with("slow") => None,
            _ => Some(Ok(Identity::new(name))),
        }
    }
}

/// Remembers in its sessions who they are, and who asked.
struct Guarded {
    names: Arc<Names>,
    asked: Mutex<Vec<Option<Identity>>>,
}

impl Service for Guarded {
    type Session = Option<Identity>;

    fn authenticator(&self) -> Option<Arc<dyn Authenticator>> {
        Some(self.names.clone())
    }

    fn open(&self, _: &PeerInfo) -> Option<Identity> {
        None
    }

    fn authenticated(&self, session: &mut Option<Identity>, identity: Identity) {
        *session = Some(identity);
    }

    fn call(
        &self,
        _: Instant,
        session: &mut Option<Identity>,
        _: Request<'_>,
        responder: Responder<'_>,
    ) {
        self.asked.lock().unwrap().push(session.clone());
        responder.send(Response::Void);
    }
}

fn connect(options: Options) -> (MaybeTls<Driver<Guarded>>, Arc<Hub<Guarded>>, Sender<()>) {
    let (open, gate) = channel();
    let service = Guarded {
        names: Arc::new(Names {
            verified: AtomicUsize::new(0),
            gate: Mutex::new(gate),
        }),
        asked: Mutex::default(),
    };
    let hub = Hub::new(Arc::new(service), options);
    (join(&hub), hub, open)
}

fn join(hub: &Arc<Hub<Guarded>>) -> MaybeTls<Driver<Guarded>> {
    join_from(hub, 1)
}

/// A connection from 127.0.0.`last`.
fn join_from(hub: &Arc<Hub<Guarded>>, last: u8) -> MaybeTls<Driver<Guarded>> {
    let (address, now) = (SocketAddr::from(([127, 0, 0, last], 9042)), Instant::now());
    let mut driver = hub.connect(address, address, now).unwrap();
    feed(&mut driver, now, &startup());
    let asked = output(&mut driver);
    assert_eq!(answers(&asked), [(0, AUTHENTICATE)]);
    assert!(asked.ends_with(b"\x00\x11org.example.Names"));
    driver
}

fn token(stream: i16, name: &str) -> Vec<u8> {
    let mut body = u32::try_from(name.len()).unwrap().to_be_bytes().to_vec();
    body.extend_from_slice(name.as_bytes());
    let mut request = query(stream, "");
    request.truncate(9);
    request[4] = 0x0F;
    request[5..9].copy_from_slice(&u32::try_from(body.len()).unwrap().to_be_bytes());
    [request, body].concat()
}

/// The answers that have come once there are `count`.
fn answered(driver: &mut MaybeTls<Driver<Guarded>>, count: usize) -> Vec<(i16, u8)> {
    let mut bytes = Vec::new();
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        driver.turn(Instant::now());
        bytes.extend(output(driver));
        let answers = answers(&bytes);
        if answers.len() >= count {
            return answers;
        }
        assert!(Instant::now() < until, "only {answers:?} came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn who_asked(hub: &Hub<Guarded>) -> Vec<String> {
    let asked = hub.service().asked.lock().unwrap();
    let name = |identity: &Option<Identity>| identity.as_ref().unwrap().name.to_string();
    asked.iter().map(name).collect()
}

#[test]
fn the_session_knows_who_was_let_in_before_the_first_request() {
    let (mut driver, hub, _open) = connect(Options::default());
    let requests = [token(1, "nobody"), token(2, "ali"), query(3, "x")].concat();
    feed(&mut driver, Instant::now(), &requests);
    assert_eq!(
        answered(&mut driver, 3),
        [(1, ERROR), (2, AUTH_SUCCESS), (3, RESULT)]
    );
    assert_eq!(who_asked(&hub), ["ali"]);
    assert_eq!(hub.service().names.verified.load(Ordering::SeqCst), 0);
}

#[test]
fn a_login_that_takes_work_is_verified_on_the_pool() {
    let (mut driver, hub, open) = connect(Options::default());
    feed(&mut driver, Instant::now(), &token(1, "slowali"));
    driver.turn(Instant::now());
    assert!(output(&mut driver).is_empty());
    open.send(()).unwrap();
    assert_eq!(answered(&mut driver, 1), [(1, AUTH_SUCCESS)]);
    feed(&mut driver, Instant::now(), &query(2, "x"));
    assert_eq!(answered(&mut driver, 1), [(2, RESULT)]);
    assert_eq!(who_asked(&hub), ["ali"]);
}

#[test]
fn a_flood_of_logins_takes_one_thread_and_the_excess_is_refused() {
    const TRIED: i16 = 300;
    let mut options = Options::default();
    options.logins.queue = 8;
    let (mut driver, hub, open) = connect(options);
    let flood: Vec<u8> = (0..TRIED)
        .flat_map(|stream| token(stream, "slownobody"))
        .collect();
    feed(&mut driver, Instant::now(), &flood);
    driver.turn(Instant::now());
    driver.turn(Instant::now());
    // One at work at most, eight waiting: all others are answered already.
    let shed = hub.totals().logins_shed;
    assert!((291..=292).contains(&shed), "{shed}");
    let refused = answered(&mut driver, usize::try_from(shed).unwrap());
    assert!(refused.iter().all(|(_, opcode)| *opcode == ERROR));
    assert!(hub.service().names.verified.load(Ordering::SeqCst) <= 1);
    for _ in shed..300 {
        open.send(()).unwrap();
    }
    let left = 300 - usize::try_from(shed).unwrap();
    assert_eq!(answered(&mut driver, left).len(), left);
    assert_eq!(hub.totals().logins_failed, left as u64);
    // Whoever comes afterwards is let in.
    let mut late = join(&hub);
    feed(&mut late, Instant::now(), &token(1, "slowali"));
    open.send(()).unwrap();
    assert_eq!(answered(&mut late, 1), [(1, AUTH_SUCCESS)]);
    assert_eq!(hub.totals().logins, 1);
}

#[test]
fn a_flood_of_logins_from_one_address_keeps_no_other_from_logging_in() {
    let mut options = Options::default();
    options.logins.queue = 8;
    let (mut greedy, hub, open) = connect(options);
    feed(&mut greedy, Instant::now(), &token(0, "slownobody"));
    let begun = || hub.service().names.verified.load(Ordering::SeqCst);
    while begun() == 0 {
        std::thread::yield_now();
    }
    let flood: Vec<u8> = (1..100)
        .flat_map(|stream| token(stream, "slownobody"))
        .collect();
    feed(&mut greedy, Instant::now(), &flood);
    greedy.turn(Instant::now());
    assert_eq!(hub.totals().logins_shed, 99 - 8);
    let (mut ali, mut eve) = (join_from(&hub, 2), join_from(&hub, 3));
    feed(&mut ali, Instant::now(), &token(1, "slowali"));
    feed(&mut eve, Instant::now(), &token(1, "sloweve"));
    assert_eq!(hub.totals().logins_shed, 99 - 8 + 2, "of the flood");
    // What is being verified, one more of the flood, whose turn it is, and then theirs.
    for _ in 0..4 {
        open.send(()).unwrap();
    }
    assert_eq!(answered(&mut ali, 1), [(1, AUTH_SUCCESS)]);
    assert_eq!(answered(&mut eve, 1), [(1, AUTH_SUCCESS)]);
    assert_eq!(hub.totals().logins_failed, 2);
}
