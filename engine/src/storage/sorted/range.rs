//! Walking a part of a sorted map from both ends.

use super::Place;

/// An iterator over entries side by side, from both ends.
#[derive(Debug)]
pub(crate) struct Range<'a, K, V> {
    pub(super) chunks: &'a [Vec<(K, V)>],
    pub(super) front: Place,
    pub(super) back: Place,
}

impl<K, V> Default for Range<'_, K, V> {
    fn default() -> Self {
        let place = Place { chunk: 0, index: 0 };
        Self {
            chunks: &[],
            front: place,
            back: place,
        }
    }
}

impl<K, V> Clone for Range<'_, K, V> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'a, K, V> Range<'a, K, V> {
    /// The next entry from the front or back, which stays.
    pub(crate) fn peek(&self, from_back: bool) -> Option<&'a (K, V)> {
        if self.front >= self.back {
            return None;
        }
        let place = if from_back {
            self.last_place()?
        } else {
            self.front
        };
        self.chunks.get(place.chunk)?.get(place.index)
    }

    fn last_place(&self) -> Option<Place> {
        match self.back {
            Place { chunk, index: 0 } => {
                let chunk = chunk.checked_sub(1)?;
                Some(Place {
                    chunk,
                    index: self.chunks.get(chunk)?.len().checked_sub(1)?,
                })
            }
            Place { chunk, index } => Some(Place {
                chunk,
                index: index - 1,
            }),
        }
    }

    /// The next entry from the front or back.
    pub(crate) fn step(&mut self, from_back: bool) -> Option<&'a (K, V)> {
        if from_back {
            self.next_back()
        } else {
            self.next()
        }
    }
}

impl<'a, K, V> Iterator for Range<'a, K, V> {
    type Item = &'a (K, V);

    fn next(&mut self) -> Option<Self::Item> {
        if self.front >= self.back {
            return None;
        }
        let chunk = self.chunks.get(self.front.chunk)?;
        let entry = chunk.get(self.front.index)?;
        self.front.index += 1;
        if self.front.index == chunk.len() {
            self.front = Place {
                chunk: self.front.chunk + 1,
                index: 0,
            };
        }
        Some(entry)
    }
}

impl<K, V> DoubleEndedIterator for Range<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.front >= self.back {
            return None;
        }
        self.back = self.last_place()?;
        self.chunks.get(self.back.chunk)?.get(self.back.index)
    }
}
