//! Walking a command's slices in the direction of the read, from where it resumes.

use crate::storage::ClusteringBound;

use super::Slices;

/// The slices that are left.
#[derive(Debug, Clone)]
pub(crate) struct SliceCursor<'a> {
    ranges: Ranges<'a>,
    /// What lies on the near side of it was read before.
    from: Option<&'a ClusteringBound>,
    reversed: bool,
}

#[derive(Debug, Clone)]
enum Ranges<'a> {
    All,
    Some(std::slice::Iter<'a, (ClusteringBound, ClusteringBound)>),
    Done,
}

/// The range of rows between two bounds, of which the first is the lesser.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slice<'a> {
    pub(crate) start: &'a ClusteringBound,
    pub(crate) end: &'a ClusteringBound,
}

impl<'a> SliceCursor<'a> {
    pub(crate) fn new(
        slices: &'a Slices,
        reversed: bool,
        from: Option<&'a ClusteringBound>,
    ) -> Self {
        let ranges = match slices {
            Slices::All => Ranges::All,
            Slices::Ranges(ranges) => Ranges::Some(ranges.iter()),
        };
        Self {
            ranges,
            from,
            reversed,
        }
    }

    /// The next slice, cut to what wasn't read before; empty ones are left out.
    pub(crate) fn next(&mut self) -> Option<Slice<'a>> {
        loop {
            let (mut start, mut end) = match &mut self.ranges {
                Ranges::Done => return None,
                Ranges::All => {
                    self.ranges = Ranges::Done;
                    let (start, end) = (&ClusteringBound::Start, &ClusteringBound::End);
                    if self.from.is_none() {
                        return Some(Slice { start, end });
                    }
                    (start, end)
                }
                Ranges::Some(ranges) => {
                    let (start, end) = if self.reversed {
                        ranges.next_back()
                    } else {
                        ranges.next()
                    }?;
                    (start, end)
                }
            };
            match self.from {
                Some(from) if self.reversed => end = end.min(from),
                Some(from) => start = start.max(from),
                None => {}
            }
            if start < end {
                return Some(Slice { start, end });
            }
        }
    }
}
