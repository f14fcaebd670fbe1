//! What a flood of wrong passwords costs. In a process of its own, whose threads are counted.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use helenus::{Authentication, ClientConfig, TestServer};
use helenus_client::PlainText;
use helenus_std::Client;

/// Those of this process.
fn login_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names
        .filter(|name| name.starts_with("helenus-login"))
        .count()
}

#[test]
fn a_flood_of_wrong_passwords_takes_one_thread_and_is_refused_beyond_the_queue() {
    const TRIED: usize = 400;
    let mut authentication = Authentication::default();
    authentication.bcrypt_cost = 5;
    let server = TestServer::start_with_logins(authentication).unwrap();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream
        .write_all(b"\x04\0\0\0\x01\0\0\0\x16\0\x01\0\x0bCQL_VERSION\0\x053.0.0")
        .unwrap();
    let wrong_token = b"\0cassandra\0wrong";
    let length = u32::try_from(wrong_token.len()).unwrap();
    let mut token = b"\x04\0\0\0\x0f".to_vec();
    token.extend_from_slice(&(4 + length).to_be_bytes());
    token.extend_from_slice(&length.to_be_bytes());
    token.extend_from_slice(wrong_token);
    let mut flood = Vec::new();
    for stream_id in 0..TRIED {
        token[2..4].copy_from_slice(&u16::try_from(stream_id).unwrap().to_be_bytes());
        flood.extend_from_slice(&token);
    }
    stream.write_all(&flood).unwrap();
    let (mut wrong, mut shed) = (0, 0);
    for number in 0..=TRIED {
        let mut header = [0; 9];
        stream.read_exact(&mut header).unwrap();
        let length = u32::from_be_bytes(*header.last_chunk().unwrap());
        let mut body = vec![0; length as usize];
        stream.read_exact(&mut body).unwrap();
        if number == 0 {
            assert_eq!(header[4], 0x03, "AUTHENTICATE");
            continue;
        }
        assert_eq!(header[4], 0x00, "ERROR");
        match body[..4] {
            [0, 0, 1, 0] => wrong += 1,
            [0, 0, 0x10, 1] => shed += 1,
            _ => panic!("{body:?}"),
        }
        if number == TRIED / 2 {
            assert!(login_threads() <= 1);
        }
    }
    assert_eq!(wrong + shed, TRIED);
    // The queue takes 64, and what is verified while the flood is read.
    assert!(wrong < TRIED / 2, "{wrong} were verified");
    let mut config = ClientConfig::default();
    config.authenticator = Some(Arc::new(PlainText::new("cassandra", "cassandra")));
    Client::connect(server.address(), config).unwrap();
}
