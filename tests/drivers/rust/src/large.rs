//! Messages that are large, and those whose size is just what a segment of v5 holds.

use scylla::response::PagingState;
use scylla::statement::unprepared::Statement;

use crate::{Context, Failure, equal};

const SEGMENT: i32 = 131_071;

fn blob(size: i32) -> Vec<u8> {
    let byte = |i: i32| u8::try_from((i64::from(i) * 7 + i64::from(size)) % 251).unwrap_or_default();
    (0..size).map(byte).collect()
}

async fn there_and_back(c: &Context, sizes: impl IntoIterator<Item = i32>) -> Result<(), Failure> {
    let t = c.table("k int PRIMARY KEY, b blob").await?;
    let insert = c
        .session
        .prepare(format!("INSERT INTO {t} (k, b) VALUES (?, ?)"))
        .await?;
    let select = c
        .session
        .prepare(format!("SELECT b FROM {t} WHERE k = ?"))
        .await?;
    for size in sizes {
        c.session.execute_unpaged(&insert, (size, blob(size))).await?;
        let result = c
            .session
            .execute_unpaged(&select, (size,))
            .await?
            .into_rows_result()?;
        if result.single_row::<(&[u8],)>()?.0 != blob(size) {
            return Err(format!("a cell of {size} bytes came back otherwise").into());
        }
    }
    Ok(())
}

pub async fn cell(c: &Context) -> Result<(), Failure> {
    there_and_back(c, [0, 1, 300_000, 3 << 20]).await
}

/// What surrounds the cell takes some dozens of bytes: one of these requests, and one of these answers, has exactly
/// 131071 bytes, and the next 131072.
pub async fn segments(c: &Context) -> Result<(), Failure> {
    let sizes = (SEGMENT - 130..SEGMENT - 20).chain([SEGMENT, SEGMENT + 1]);
    there_and_back(c, sizes).await
}

pub async fn page(c: &Context) -> Result<(), Failure> {
    let t = c.table("p int, c int, t text, PRIMARY KEY (p, c)").await?;
    let wanted: Vec<(i32, String)> = (0..500).map(|c| (c, format!("{c:04}").repeat(100))).collect();
    let insert = c
        .session
        .prepare(format!("INSERT INTO {t} (p, c, t) VALUES (1, ?, ?)"))
        .await?;
    for row in &wanted {
        c.session.execute_unpaged(&insert, row).await?;
    }
    let mut select = Statement::new(format!("SELECT c, t FROM {t} WHERE p = 1"));
    select.set_page_size(500);
    let (page, _) = c
        .session
        .query_single_page(select, (), PagingState::start())
        .await?;
    let rows = page.into_rows_result()?;
    let rows = rows.rows::<(i32, String)>()?.collect::<Result<Vec<_>, _>>()?;
    equal("the page", rows == wanted, true)
}
