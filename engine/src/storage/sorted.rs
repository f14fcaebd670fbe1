//! A sorted map in chunks: what partitions and rows are kept in.
//!
//! Entries lie side by side, so that scans in either direction walk memory in order and an immutable map has no
//! slack; an insertion moves at most a chunk.

mod range;

pub(crate) use range::Range;

use std::cmp::Ordering;

/// The most entries of a chunk.
const CHUNK: usize = 64;

/// A sorted map.
#[derive(Debug, Clone)]
pub(crate) struct Sorted<K, V> {
    /// None is empty.
    chunks: Vec<Vec<(K, V)>>,
    len: usize,
}

/// A place between entries; the end of a chunk and the start of the next are the same place, always given as the
/// latter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    chunk: usize,
    index: usize,
}

impl Place {
    /// In front of entry `index` of a chunk of so many, or of the chunk behind it.
    fn behind(chunk: usize, index: usize, len: usize) -> Self {
        if index < len {
            Self { chunk, index }
        } else {
            Self {
                chunk: chunk + 1,
                index: 0,
            }
        }
    }
}

impl<K, V> Default for Sorted<K, V> {
    fn default() -> Self {
        Self {
            chunks: Vec::new(),
            len: 0,
        }
    }
}

impl<K, V> Sorted<K, V> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The place in front of the first entry that `before` doesn't hold for; it must hold for all up to some entry
    /// and for none from there.
    pub(crate) fn seek(&self, before: impl Fn(&K) -> bool) -> Place {
        seek(&self.chunks, before)
    }

    /// As [`seek`](Self::seek) from a place on. Looks at the next two entries first: most slices are short.
    pub(crate) fn seek_from(&self, place: Place, before: impl Fn(&K) -> bool) -> Place {
        let mut next = place;
        for _ in 0..2 {
            match self.get(next) {
                Some((key, _)) if before(key) => next = self.after(next),
                _ => return next,
            }
        }
        self.seek(before).max(next)
    }

    /// In front of the first entry.
    pub(crate) fn start(&self) -> Place {
        Place { chunk: 0, index: 0 }
    }

    /// Behind the last entry.
    pub(crate) fn end(&self) -> Place {
        Place {
            chunk: self.chunks.len(),
            index: 0,
        }
    }

    fn after(&self, place: Place) -> Place {
        let len = self.chunks.get(place.chunk).map_or(0, Vec::len);
        Place::behind(place.chunk, place.index + 1, len)
    }

    /// The entry behind a place.
    pub(crate) fn get(&self, place: Place) -> Option<&(K, V)> {
        self.chunks.get(place.chunk)?.get(place.index)
    }

    /// The entry that `order` finds equal.
    pub(crate) fn find(&self, order: impl Fn(&K) -> Ordering) -> Option<&(K, V)> {
        self.get(self.seek(|key| order(key).is_lt()))
            .filter(|(key, _)| order(key).is_eq())
    }

    /// The least entry.
    pub(crate) fn first(&self) -> Option<&(K, V)> {
        self.get(self.start())
    }

    /// Appends entries greater than all others.
    pub(crate) fn append(&mut self, other: Self) {
        self.len += other.len;
        self.chunks.extend(other.chunks);
    }

    /// The greatest entry.
    pub(crate) fn last(&self) -> Option<&(K, V)> {
        self.chunks.last()?.last()
    }

    /// All entries between two places.
    pub(crate) fn range(&self, front: Place, back: Place) -> Range<'_, K, V> {
        Range {
            chunks: &self.chunks,
            front,
            back,
        }
    }

    /// Appends an entry greater than all others.
    pub(crate) fn push(&mut self, key: K, value: V) {
        self.insert(self.end(), key, value);
    }

    /// Keeps the entries that `keep` holds for.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        for chunk in &mut self.chunks {
            chunk.retain_mut(|(key, value)| keep(key, value));
        }
        self.chunks.retain(|chunk| !chunk.is_empty());
        self.len = self.chunks.iter().map(Vec::len).sum();
    }

    /// Gives back what memory the entries don't need.
    pub(crate) fn shrink(&mut self) {
        if let Some(last) = self.chunks.last_mut() {
            last.shrink_to_fit();
        }
        self.chunks.shrink_to_fit();
    }

    /// Takes the last chunk, to drop a large map piece by piece.
    pub(crate) fn pop_chunk(&mut self) -> Option<Vec<(K, V)>> {
        let chunk = self.chunks.pop()?;
        self.len -= chunk.len();
        Some(chunk)
    }

    /// Inserts in front of a place that [`seek`](Self::seek) gave.
    fn insert(&mut self, place: Place, key: K, value: V) {
        self.len += 1;
        let entry = (key, value);
        let (at, index) = self.roomier_side(place);
        let Some(chunk) = self.chunks.get_mut(at) else {
            self.chunks
                .reserve_exact(usize::from(self.chunks.is_empty()));
            self.chunks.push(vec![entry]);
            return;
        };
        if chunk.len() < CHUNK {
            chunk.insert(index, entry);
            return;
        }
        // Split where the entry goes if that is the end, else in the middle.
        let mut rest = Vec::with_capacity(CHUNK);
        if index < chunk.len() {
            rest.extend(chunk.drain(CHUNK / 2..));
        }
        match index.checked_sub(chunk.len()) {
            Some(index) => rest.insert(index, entry),
            None => chunk.insert(index, entry),
        }
        self.chunks.insert(at + 1, rest);
    }

    /// A chunk's start is also the end of the chunk before: that is where an ascending load appends, unless only the
    /// later chunk has room.
    fn roomier_side(&self, place: Place) -> (usize, usize) {
        let len = |chunk: usize| self.chunks.get(chunk).map(Vec::len);
        if place.index == 0
            && let Some(before) = place.chunk.checked_sub(1)
            && let Some(end) = len(before)
            && (end < CHUNK || len(place.chunk).is_none_or(|len| len == CHUNK))
        {
            return (before, end);
        }
        (place.chunk, place.index)
    }
}

fn seek<K, V>(chunks: &[Vec<(K, V)>], before: impl Fn(&K) -> bool) -> Place {
    let begins = |chunk: &Vec<(K, V)>| chunk.first().is_some_and(|(key, _)| before(key));
    let next = match chunks {
        [only] => usize::from(begins(only)),
        chunks => chunks.partition_point(begins),
    };
    let Some(chunk) = next.checked_sub(1) else {
        return Place { chunk: 0, index: 0 };
    };
    let entries = chunks.get(chunk).map_or(&[][..], Vec::as_slice);
    let index = entries.partition_point(|(key, _)| before(key));
    Place::behind(chunk, index, entries.len())
}

impl<K: Ord, V> Sorted<K, V> {
    /// The places in front of and behind the entry of a key; both the same if there is none.
    pub(crate) fn place_of(&self, key: &K) -> (Place, Place) {
        let front = self.seek(|other| other < key);
        match self.get(front) {
            Some((other, _)) if other == key => (front, self.after(front)),
            _ => (front, front),
        }
    }

    /// Hands the value of a key to `update`, or `None` if there is none; then what `update` gives becomes its value.
    pub(crate) fn upsert(&mut self, key: &K, update: impl FnOnce(Option<&mut V>) -> Option<V>)
    where
        K: Clone,
    {
        let place = self.seek(|other| other < key);
        let entry = self
            .chunks
            .get_mut(place.chunk)
            .and_then(|chunk| chunk.get_mut(place.index));
        match entry.filter(|(other, _)| other == key) {
            Some((_, value)) => {
                update(Some(value));
            }
            None => {
                if let Some(value) = update(None) {
                    self.insert(place, key.clone(), value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
