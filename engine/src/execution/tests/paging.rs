//! Pages: where they end, and that the next one begins there.

use helenus_core::message::QueryParams;
use helenus_core::{Consistency, Response};

use super::node;
use super::node::{Node, show};

/// All pages of a query, each with whether the server says that there is more.
fn pages(node: &mut Node, cql: &str, sizes: &[i32]) -> Vec<(String, bool)> {
    let statement = node.prepare(cql).unwrap();
    let mut state = None;
    let mut pages = Vec::new();
    for size in sizes {
        let mut params = QueryParams::new(Consistency::ONE);
        params.page_size = Some(*size);
        params.paging_state = state.as_deref();
        let completed = node.execute(&statement, &params);
        let Response::Rows(rows) = &completed.response else {
            panic!("{}", show(&completed));
        };
        pages.push((show(&completed), rows.paging_state.is_some()));
        state = rows.paging_state.clone();
        if state.is_none() {
            break;
        }
    }
    pages
}

fn ten_rows() -> Node {
    let mut node = node();
    for c in 0..10 {
        node.run(&format!(
            "INSERT INTO cc (p, c, d, v) VALUES (1, {c}, 0, {c})"
        ));
    }
    node
}

fn page(rows: &str, more: bool) -> (String, bool) {
    (
        format!("v{}{rows}", if rows.is_empty() { "" } else { " / " }),
        more,
    )
}

#[test]
fn a_full_last_page_promises_more_and_an_empty_page_follows() {
    let mut node = ten_rows();
    let found = pages(&mut node, "SELECT v FROM cc WHERE p = 1", &[5; 4]);
    let expected = [
        page("0 / 1 / 2 / 3 / 4", true),
        page("5 / 6 / 7 / 8 / 9", true),
        page("", false),
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_size_may_change_from_page_to_page() {
    let mut node = ten_rows();
    let found = pages(&mut node, "SELECT v FROM cc WHERE p = 1", &[2, 5, 100]);
    let expected = [
        page("0 / 1", true),
        page("2 / 3 / 4 / 5 / 6", true),
        page("7 / 8 / 9", false),
    ];
    assert_eq!(found, expected);
}

#[test]
fn limits_go_on_over_pages() {
    let mut node = ten_rows();
    let found = pages(&mut node, "SELECT v FROM cc WHERE p = 1 LIMIT 3", &[1; 4]);
    assert_eq!(found, [page("0", true), page("1", true), page("2", false)]);
    let found = pages(&mut node, "SELECT v FROM cc WHERE p = 1 LIMIT 4", &[4; 2]);
    assert_eq!(found, [page("0 / 1 / 2 / 3", false)]);
    let found = pages(&mut node, "SELECT v FROM cc PER PARTITION LIMIT 3", &[2; 4]);
    assert_eq!(found, [page("0 / 1", true), page("2", false)]);
}

#[test]
fn pages_go_backwards_too() {
    let mut node = ten_rows();
    let found = pages(
        &mut node,
        "SELECT v FROM cc WHERE p = 1 ORDER BY c DESC",
        &[4; 4],
    );
    let expected = [
        page("9 / 8 / 7 / 6", true),
        page("5 / 4 / 3 / 2", true),
        page("1 / 0", false),
    ];
    assert_eq!(found, expected);
}

#[test]
fn pages_span_partitions_and_keep_their_statics() {
    let mut node = node();
    node.all(&[
        "INSERT INTO cc (p, s) VALUES (7, 70)",
        "INSERT INTO cc (p, c, d, v, s) VALUES (1, 1, 1, 11, 10)",
        "INSERT INTO cc (p, c, d, v) VALUES (1, 2, 1, 12)",
        "INSERT INTO cc (p, c, d, v) VALUES (2, 1, 1, 21)",
    ]);
    let rows: Vec<_> = pages(&mut node, "SELECT p, s, v FROM cc", &[1; 9])
        .into_iter()
        .map(|(page, _)| page)
        .collect();
    assert_eq!(
        rows,
        [
            "p|s|v / 1|10|11",
            "p|s|v / 1|10|12",
            "p|s|v / 2|null|21",
            "p|s|v / 7|70|null",
            "p|s|v"
        ]
    );
    let rows: Vec<_> = pages(&mut node, "SELECT DISTINCT p FROM cc", &[2; 9])
        .into_iter()
        .map(|(page, _)| page)
        .collect();
    assert_eq!(rows, ["p / 1 / 2", "p / 7"]);
    let rows: Vec<_> = pages(&mut node, "SELECT v FROM cc WHERE p IN (2, 1)", &[2; 9])
        .into_iter()
        .map(|(page, _)| page)
        .collect();
    assert_eq!(rows, ["v / 11 / 12", "v / 21"]);
}

#[test]
fn an_aggregate_takes_one_page() {
    let mut node = ten_rows();
    let found = pages(&mut node, "SELECT count(*) FROM cc WHERE p = 1", &[3]);
    assert_eq!(found, [("count / 10".to_owned(), false)]);
}

#[test]
fn a_foreign_paging_state_is_a_protocol_error() {
    let mut node = ten_rows();
    let statement = node.prepare("SELECT v FROM cc WHERE p = 1").unwrap();
    let mut params = QueryParams::new(Consistency::ONE);
    params.page_size = Some(3);
    params.paging_state = Some(b"nonsense");
    let shown = show(&node.execute(&statement, &params));
    assert_eq!(shown, "PROTOCOL_ERROR: Invalid value for the paging state");
}

#[test]
fn a_forged_paging_state_without_rows_left_gives_none() {
    let mut node = ten_rows();
    let forged = crate::execution::page::PageState {
        position: crate::readers::Position::at_start(
            crate::storage::DecoratedKey::new(super::node::int(1)),
            false,
        ),
        remaining: 0,
        remaining_in_partition: 0,
    };
    let statement = node.prepare("SELECT v FROM cc WHERE p = 1").unwrap();
    let state = forged.encode();
    let mut params = QueryParams::new(Consistency::ONE);
    params.page_size = Some(3);
    params.paging_state = Some(&state);
    assert_eq!(show(&node.execute(&statement, &params)), "v");
}
