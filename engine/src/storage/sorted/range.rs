//! Walking a part of a sorted map from both ends.

use std::ops::ControlFlow;

use super::{Place, seek};

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

    /// Hands over entries from the front or back until `take` breaks; goes on behind the last one taken.
    pub(crate) fn consume<B>(
        &mut self,
        from_back: bool,
        take: impl FnMut(&'a (K, V)) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if from_back {
            self.consume_back(take)
        } else {
            self.consume_front(take)
        }
    }

    fn consume_front<B>(
        &mut self,
        mut take: impl FnMut(&'a (K, V)) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        while self.front < self.back {
            let Place { chunk: at, index } = self.front;
            let chunk = self.chunk(at);
            let end = if at == self.back.chunk {
                self.back.index
            } else {
                chunk.len()
            };
            for (taken, entry) in (1..).zip(chunk.get(index..end).unwrap_or_default()) {
                if let ControlFlow::Break(pause) = take(entry) {
                    self.front = Place::behind(at, index + taken, chunk.len());
                    return ControlFlow::Break(pause);
                }
            }
            self.front = Place::behind(at, end, chunk.len());
        }
        ControlFlow::Continue(())
    }

    fn consume_back<B>(
        &mut self,
        mut take: impl FnMut(&'a (K, V)) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        while self.front < self.back
            && let Some(Place { chunk: at, index }) = self.last_place()
        {
            let start = if at == self.front.chunk {
                self.front.index
            } else {
                0
            };
            let entries = self.chunk(at).get(start..=index).unwrap_or_default();
            for (taken, entry) in entries.iter().enumerate().rev() {
                if let ControlFlow::Break(pause) = take(entry) {
                    self.back = Place {
                        chunk: at,
                        index: start + taken,
                    };
                    return ControlFlow::Break(pause);
                }
            }
            self.back = Place {
                chunk: at,
                index: start,
            };
        }
        ControlFlow::Continue(())
    }

    fn chunk(&self, at: usize) -> &'a [(K, V)] {
        self.chunks.get(at).map_or(&[], Vec::as_slice)
    }

    /// Leaves the next entries from the front or back that `before` holds for; it must hold for all up to some entry and
    /// for none from there. Gives the far end, for [`widen`](Self::widen).
    pub(crate) fn narrow(&mut self, from_back: bool, before: impl Fn(&K) -> bool) -> Place {
        let is_next = self.peek(from_back).is_some_and(|(key, _)| before(key));
        let cut = match (is_next, from_back) {
            (false, false) => self.front,
            (false, true) => self.back,
            (true, false) => seek(self.chunks, before).min(self.back),
            (true, true) => seek(self.chunks, |key| !before(key)).max(self.front),
        };
        std::mem::replace(self.far_end(from_back), cut)
    }

    /// Sets the far end.
    pub(crate) fn widen(&mut self, from_back: bool, far_end: Place) {
        *self.far_end(from_back) = far_end;
    }

    fn far_end(&mut self, from_back: bool) -> &mut Place {
        if from_back {
            &mut self.front
        } else {
            &mut self.back
        }
    }

    /// The next entry from the front or back.
    #[inline]
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

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.front >= self.back {
            return None;
        }
        let chunk = self.chunks.get(self.front.chunk)?;
        let entry = chunk.get(self.front.index)?;
        self.front = Place::behind(self.front.chunk, self.front.index + 1, chunk.len());
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
