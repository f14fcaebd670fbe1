//! `SELECT`.

use nom::Parser;
use nom::combinator::map;
use nom::multi::separated_list1;

use super::ast::{OrderBy, Select, Selectable, Selector};
use super::input::{Input, Parsed, clause, flag, key, keys, separator};
use super::keywords::Keyword;
use super::names::{column, table};
use super::relations::relations;
use super::selection::{selectable, selectors};
use super::terms::{integer, term};
use super::token::Kind;

/// A whole `SELECT`.
pub(super) fn select(input: Input<'_>) -> Parsed<'_, Select> {
    let (input, _) = key(Keyword::Select)(input)?;
    let (input, head) = head(input)?;
    let (input, _) = key(Keyword::From)(input)?;
    let (input, from) = table(input)?;
    let (input, restrictions) = clause(Keyword::Where, relations)(input)?;
    let (input, group_by) = clause(Keyword::Group, group_by)(input)?;
    let (input, order_by) = clause(Keyword::Order, order_by)(input)?;
    let (input, per_partition_limit) = clause(Keyword::Per, |input| {
        let (input, ()) = keys(&[Keyword::Partition, Keyword::Limit])(input)?;
        integer(input)
    })(input)?;
    let (input, limit) = clause(Keyword::Limit, integer)(input)?;
    let (input, allow_filtering) = flag(&[Keyword::Allow, Keyword::Filtering])(input)?;
    let select = Select {
        selectors: head.selectors,
        distinct: head.distinct,
        json: head.json,
        from,
        restrictions: restrictions.unwrap_or_default(),
        group_by: group_by.unwrap_or_default(),
        order_by: order_by.unwrap_or_default(),
        per_partition_limit,
        limit,
        allow_filtering,
    };
    Ok((input, select))
}

/// What stands between `SELECT` and `FROM`.
struct Head {
    selectors: Vec<Selector>,
    distinct: bool,
    json: bool,
}

/// `JSON` and `DISTINCT` may be columns too: they are keywords where selectors follow.
fn head(input: Input<'_>) -> Parsed<'_, Head> {
    if input.at(Keyword::Json)
        && let Ok((rest, head)) = distinct_head(input.advance())
    {
        return Ok((rest, Head { json: true, ..head }));
    }
    distinct_head(input)
}

fn distinct_head(input: Input<'_>) -> Parsed<'_, Head> {
    if input.at(Keyword::Distinct)
        && let Ok((rest, selectors)) = selectors(input.advance())
    {
        let head = Head {
            selectors,
            distinct: true,
            json: false,
        };
        return Ok((rest, head));
    }
    let plain = |selectors| Head {
        selectors,
        distinct: false,
        json: false,
    };
    map(selectors, plain).parse(input)
}

fn group_by(input: Input<'_>) -> Parsed<'_, Vec<Selectable>> {
    let (input, _) = key(Keyword::By)(input)?;
    separated_list1(separator(Kind::Comma), selectable).parse(input)
}

fn order_by(input: Input<'_>) -> Parsed<'_, Vec<OrderBy>> {
    let (input, _) = key(Keyword::By)(input)?;
    separated_list1(separator(Kind::Comma), ordering).parse(input)
}

fn ordering(input: Input<'_>) -> Parsed<'_, OrderBy> {
    let (input, column) = column(input)?;
    let (input, ann_of) = clause(Keyword::Ann, |input| {
        let (input, _) = key(Keyword::Of)(input)?;
        term(input)
    })(input)?;
    let (input, descending) = match input.kind() {
        Kind::Key(Keyword::Desc) => (input.advance(), true),
        Kind::Key(Keyword::Asc) => (input.advance(), false),
        _ => (input, false),
    };
    let ordering = OrderBy {
        column,
        ann_of,
        descending,
    };
    Ok((input, ordering))
}
