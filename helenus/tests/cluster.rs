//! A cluster in this process, as a client meets it: levels, nodes that fail, and what they miss meanwhile.

use std::time::Duration;

use helenus::{ClientConfig, ClusterError, NodeState, TestCluster};
use helenus_client::{Error, Statement};
use helenus_core::message::ErrorDetail;
use helenus_core::types::Counter;
use helenus_core::{Consistency, ErrorCode};
use helenus_std::Client;

const KEYSPACE: &str =
    "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}";
const TABLE: &str = "CREATE TABLE shop.orders (k int, c int, v text, PRIMARY KEY (k, c))";

/// Three nodes with a table on all of them, and a client of each.
fn start() -> (TestCluster, Vec<Client>) {
    let cluster = TestCluster::start(3).unwrap();
    let clients: Vec<_> = cluster.addresses().into_iter().map(connect).collect();
    query(&clients[1], KEYSPACE, Consistency::ONE).unwrap();
    query(&clients[2], TABLE, Consistency::ONE).unwrap();
    (cluster, clients)
}

fn connect(address: std::net::SocketAddr) -> Client {
    Client::connect(address, ClientConfig::default()).unwrap()
}

fn query(client: &Client, text: &str, level: Consistency) -> Result<usize, Error> {
    let mut statement = Statement::new(text);
    statement.options.consistency = level;
    let result = client.query(statement, ())?;
    Ok(result.rows().map_or(0, |rows| rows.iter().count()))
}

fn write(client: &Client, key: i32, level: Consistency) -> Result<usize, Error> {
    let text = format!("INSERT INTO shop.orders (k, c, v) VALUES ({key}, {key}, 'v')");
    query(client, &text, level)
}

fn read(client: &Client, key: i32, level: Consistency) -> Result<usize, Error> {
    query(
        client,
        &format!("SELECT v FROM shop.orders WHERE k = {key}"),
        level,
    )
}

/// The code of an error, and how many replicas it says were needed and there.
fn refusal(outcome: Result<usize, Error>) -> (ErrorCode, i32, i32) {
    match outcome {
        Err(Error::Server(error)) => match error.detail {
            ErrorDetail::Unavailable {
                required, alive, ..
            } => (error.code, required, alive),
            ErrorDetail::ReadTimeout {
                block_for,
                received,
                ..
            }
            | ErrorDetail::WriteTimeout {
                block_for,
                received,
                ..
            } => (error.code, block_for, received),
            _ => (error.code, 0, 0),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_written_through_one_node_is_read_through_the_others() {
    let (_cluster, clients) = start();
    for key in 0..30 {
        write(&clients[key as usize % 3], key, Consistency::QUORUM).unwrap();
    }
    for client in &clients {
        for key in 0..30 {
            assert_eq!(read(client, key, Consistency::QUORUM).unwrap(), 1, "{key}");
        }
        for level in [Consistency::ONE, Consistency::QUORUM, Consistency::ALL] {
            assert_eq!(
                query(client, "SELECT * FROM shop.orders", level).unwrap(),
                30
            );
        }
    }
    query(
        &clients[0],
        "DELETE FROM shop.orders WHERE k = 3",
        Consistency::QUORUM,
    )
    .unwrap();
    query(&clients[1], "TRUNCATE shop.orders", Consistency::ALL).unwrap();
    let left = query(&clients[2], "SELECT * FROM shop.orders", Consistency::ALL);
    assert_eq!(left.unwrap(), 0);
}

#[test]
fn a_node_that_is_stopped_is_missed_at_all_and_not_at_quorum() {
    let (cluster, clients) = start();
    cluster.stop(2).unwrap();
    assert_eq!(cluster.state(2), Some(NodeState::Stopped));
    for key in 0..10 {
        write(&clients[0], key, Consistency::QUORUM).unwrap();
        assert_eq!(read(&clients[2], key, Consistency::QUORUM).unwrap(), 1);
    }
    let unavailable = (ErrorCode::UNAVAILABLE, 3, 2);
    assert_eq!(refusal(read(&clients[0], 1, Consistency::ALL)), unavailable);
    assert_eq!(
        refusal(write(&clients[0], 1, Consistency::ALL)),
        unavailable
    );
    query(
        &clients[0],
        "CREATE TABLE shop.late (k int PRIMARY KEY)",
        Consistency::ONE,
    )
    .unwrap();

    cluster.restart(2).unwrap();
    let back = connect(cluster.addresses()[1]);
    query(
        &back,
        "INSERT INTO shop.late (k) VALUES (1)",
        Consistency::ALL,
    )
    .unwrap();
    // The others stay away: what it has is what they kept for it.
    cluster.partition(&[2]).unwrap();
    for key in 0..10 {
        assert_eq!(read(&back, key, Consistency::ONE).unwrap(), 1, "{key}");
    }
}

#[test]
fn a_node_that_is_paused_is_waited_for_where_it_is_needed_alone() {
    let (cluster, clients) = start();
    write(&clients[0], 1, Consistency::ALL).unwrap();
    cluster.pause(3).unwrap();
    assert_eq!(read(&clients[0], 1, Consistency::QUORUM).unwrap(), 1);
    write(&clients[1], 2, Consistency::QUORUM).unwrap();
    let timed_out = refusal(write(&clients[0], 3, Consistency::ALL));
    assert_eq!(timed_out, (ErrorCode::WRITE_TIMEOUT, 3, 2));
    cluster.resume(3).unwrap();
    assert_eq!(read(&clients[2], 3, Consistency::ALL).unwrap(), 1);
}

#[test]
fn both_sides_of_a_partition_see_the_other_down_and_agree_afterwards() {
    let (cluster, clients) = start();
    cluster.partition(&[1]).unwrap();
    write(&clients[1], 1, Consistency::QUORUM).unwrap();
    let alone = refusal(write(&clients[0], 1, Consistency::QUORUM));
    assert_eq!(alone, (ErrorCode::UNAVAILABLE, 2, 1));
    for (client, table) in [(0, "here"), (1, "there")] {
        let text = format!("CREATE TABLE shop.{table} (k int PRIMARY KEY)");
        query(&clients[client], &text, Consistency::ONE).unwrap();
    }
    cluster.heal();
    for client in &clients {
        for table in ["here", "there"] {
            let text = format!("INSERT INTO shop.{table} (k) VALUES (1)");
            query(client, &text, Consistency::ALL).unwrap();
        }
        let versions = "SELECT schema_version FROM system.peers_v2";
        assert_eq!(query(client, versions, Consistency::ONE).unwrap(), 2);
    }
    assert_eq!(read(&clients[0], 1, Consistency::ONE).unwrap(), 1);
}

#[test]
fn messages_may_be_late_doubled_and_lost() {
    let (cluster, clients) = start();
    let nodes = [1, 2, 3];
    cluster
        .delay(&nodes, Duration::from_millis(2), Duration::from_millis(2))
        .unwrap();
    cluster.duplicate(&nodes, 0.5).unwrap();
    for key in 0..10 {
        write(&clients[0], key, Consistency::QUORUM).unwrap();
        assert_eq!(read(&clients[1], key, Consistency::QUORUM).unwrap(), 1);
    }
    query(
        &clients[2],
        "ALTER TABLE shop.orders ADD w int",
        Consistency::ONE,
    )
    .unwrap();
    cluster.heal();
    cluster.lose(&[1], 1.0).unwrap();
    let lost = refusal(write(&clients[0], 1, Consistency::QUORUM));
    assert_eq!(lost, (ErrorCode::WRITE_TIMEOUT, 2, 1));
    write(&clients[1], 1, Consistency::QUORUM).unwrap();
}

/// Whether a conditional write was applied.
fn applied(client: &Client, text: &str) -> Result<bool, Error> {
    let mut statement = Statement::new(text);
    statement.options.consistency = Consistency::QUORUM;
    let result = client.query(statement, ())?;
    let rows = result.rows().unwrap();
    let row = rows.iter().next().unwrap().unwrap();
    Ok(row.get::<bool>("[applied]").unwrap())
}

#[test]
fn of_clients_that_contend_for_a_row_exactly_one_wins() {
    let (cluster, clients) = start();
    // Of a round that takes too long nobody knows what came of it: who then finds its own value has won.
    let has_won = &|round: i32, number: usize| {
        let insert = format!(
            "INSERT INTO shop.orders (k, c, v) VALUES ({round}, 0, '{number}') IF NOT EXISTS"
        );
        loop {
            let Ok(result) = clients[number % 3].query(&*insert, ()) else {
                continue;
            };
            let rows = result.rows().unwrap();
            let row = rows.iter().next().unwrap().unwrap();
            let applied = row.get::<bool>("[applied]").unwrap();
            return applied || row.get::<&str>("v").unwrap() == number.to_string();
        }
    };
    for round in 0..8 {
        let won = std::thread::scope(|scope| {
            let tries: Vec<_> = (0..6)
                .map(|number| scope.spawn(move || has_won(round, number)))
                .collect();
            let won = tries.into_iter().map(|each| each.join().unwrap());
            won.filter(|won| *won).count()
        });
        assert_eq!(won, 1, "round {round}");
    }
    query(
        &clients[0],
        "UPDATE shop.orders SET v = 'mine' WHERE k = 1 AND c = 0",
        Consistency::ALL,
    )
    .unwrap();
    assert!(
        applied(
            &clients[1],
            "UPDATE shop.orders SET v = 'new' WHERE k = 1 AND c = 0 IF v = 'mine'"
        )
        .unwrap()
    );
    assert!(
        !applied(
            &clients[2],
            "UPDATE shop.orders SET v = 'x' WHERE k = 1 AND c = 0 IF v = 'mine'"
        )
        .unwrap()
    );
    assert_eq!(read(&clients[0], 1, Consistency::SERIAL).unwrap(), 1);
    cluster.stop(1).unwrap();
    assert!(
        applied(
            &clients[1],
            "DELETE FROM shop.orders WHERE k = 1 AND c = 0 IF EXISTS"
        )
        .unwrap()
    );
    cluster.stop(3).unwrap();
    let alone = refusal(read(&clients[1], 1, Consistency::SERIAL));
    assert_eq!(alone, (ErrorCode::UNAVAILABLE, 2, 1));
}

#[test]
fn batches_reach_all_their_partitions() {
    let (cluster, clients) = start();
    let inserts = |keys: std::ops::Range<i32>| {
        let insert = |key| format!("INSERT INTO shop.orders (k, c) VALUES ({key}, 0);");
        keys.map(insert).collect::<String>()
    };
    let logged = format!("BEGIN BATCH {} APPLY BATCH", inserts(0..5));
    query(&clients[0], &logged, Consistency::QUORUM).unwrap();
    cluster.stop(3).unwrap();
    let unlogged = format!("BEGIN UNLOGGED BATCH {} APPLY BATCH", inserts(5..10));
    query(&clients[1], &unlogged, Consistency::QUORUM).unwrap();
    let logged = format!("BEGIN BATCH {} APPLY BATCH", inserts(10..15));
    query(&clients[1], &logged, Consistency::ANY).unwrap();
    let all = query(
        &clients[0],
        "SELECT k FROM shop.orders",
        Consistency::QUORUM,
    );
    assert_eq!(all.unwrap(), 15);
    cluster.restart(3).unwrap();
    let all = query(&clients[0], "SELECT k FROM shop.orders", Consistency::ALL);
    assert_eq!(all.unwrap(), 15);
}

#[test]
fn counters_add_up_whichever_node_counts() {
    let (cluster, clients) = start();
    let table = "CREATE TABLE shop.hits (k int PRIMARY KEY, n counter)";
    query(&clients[0], table, Consistency::ONE).unwrap();
    let add = |client: &Client, keys: std::ops::Range<i32>| {
        for key in keys {
            let text = format!("UPDATE shop.hits SET n = n + 2 WHERE k = {key}");
            query(client, &text, Consistency::QUORUM).unwrap();
        }
    };
    for client in &clients {
        cluster.duplicate(&[1, 2, 3], 0.5).unwrap();
        add(client, 0..10);
    }
    cluster.heal();
    cluster.stop(1).unwrap();
    add(&clients[1], 0..10);
    let batch = "BEGIN COUNTER BATCH UPDATE shop.hits SET n = n + 1 WHERE k = 0; \
                 UPDATE shop.hits SET n = n + 1 WHERE k = 1; APPLY BATCH";
    query(&clients[2], batch, Consistency::QUORUM).unwrap();
    cluster.restart(1).unwrap();
    for key in 0..10 {
        let mut statement = Statement::new("SELECT n FROM shop.hits WHERE k = ?");
        statement.options.consistency = Consistency::ALL;
        let result = clients[1].query(statement, (key,)).unwrap();
        let found: Vec<_> = result.typed::<(Counter,)>().unwrap().collect();
        let batched = i64::from(key < 2);
        assert_eq!(found, [Ok((Counter(8 + batched),))], "{key}");
    }
}

#[test]
fn controls_of_nodes_that_arent_there_or_in_that_state_are_refused() {
    let cluster = TestCluster::start(2).unwrap();
    assert!(matches!(
        cluster.stop(3),
        Err(ClusterError::NoSuchNode(3, 2))
    ));
    assert!(matches!(
        cluster.stop(0),
        Err(ClusterError::NoSuchNode(0, 2))
    ));
    assert!(cluster.restart(1).is_err());
    assert!(cluster.resume(1).is_err());
    cluster.pause(1).unwrap();
    let error = cluster.pause(1).unwrap_err();
    assert_eq!(error.to_string(), "node 1 is paused");
    cluster.stop(1).unwrap();
    assert!(cluster.pause(1).is_err());
    cluster.restart(1).unwrap();
    assert_eq!(cluster.state(1), Some(NodeState::Running));
}
