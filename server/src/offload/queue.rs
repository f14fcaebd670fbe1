//! Jobs that wait for a thread, in one line for each origin: origins take turns, and who has the longest line makes room
//! for who has a short one.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Instant;

/// Whose jobs stand in one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Origin {
    /// The server's own, or of somebody who isn't told apart.
    #[default]
    Common,
    /// The clients of an address: a whole network of IPv6, where everybody has 2⁶⁴ of them.
    Address(IpAddr),
}

impl From<IpAddr> for Origin {
    fn from(address: IpAddr) -> Self {
        const NETWORK: u128 = !(u64::MAX as u128);
        Origin::Address(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & NETWORK).into(),
            address => address,
        })
    }
}

/// The jobs that wait.
#[derive(Debug)]
pub(super) struct Queue<T> {
    /// None is empty; the first is the next to have its turn.
    lines: VecDeque<Line<T>>,
    length: usize,
}

#[derive(Debug)]
struct Line<T> {
    origin: Origin,
    waiting: VecDeque<(Instant, T)>,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue {
            lines: VecDeque::new(),
            length: 0,
        }
    }
}

impl<T> Queue<T> {
    pub(super) const fn len(&self) -> usize {
        self.length
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Puts a job at the end of its line. Over `most` in all, one of them is given back: the last of the longest line, or
    /// this one if its own is as long but for one.
    pub(super) fn push(&mut self, origin: Origin, job: T, now: Instant, most: usize) -> Option<T> {
        let own = self.lines.iter().position(|line| line.origin == origin);
        let refused = match self.length < most {
            true => None,
            false => {
                let in_line = own.and_then(|at| self.lines.get(at));
                let longest = self.longest_above(in_line.map_or(0, |line| line.waiting.len()) + 1);
                let Some((_, last)) = longest.and_then(|line| line.waiting.pop_back()) else {
                    return Some(job);
                };
                self.length -= 1;
                Some(last)
            }
        };
        self.length += 1;
        match own.and_then(|at| self.lines.get_mut(at)) {
            Some(line) => line.waiting.push_back((now, job)),
            None => self.lines.push_back(Line {
                origin,
                waiting: VecDeque::from([(now, job)]),
            }),
        }
        refused
    }

    /// The longest line, if it is longer than this.
    fn longest_above(&mut self, length: usize) -> Option<&mut Line<T>> {
        let longest = self.lines.iter_mut().max_by_key(|line| line.waiting.len());
        longest.filter(|line| line.waiting.len() > length)
    }

    /// The next job: of the line whose turn it is, the first.
    pub(super) fn pop(&mut self) -> Option<T> {
        let mut line = self.lines.pop_front()?;
        let (_, job) = line.waiting.pop_front()?;
        self.length -= 1;
        if !line.waiting.is_empty() {
            self.lines.push_back(line);
        }
        Some(job)
    }

    /// Since when the job has waited that has waited longest.
    pub(super) fn oldest(&self) -> Option<Instant> {
        let fronts = self.lines.iter().filter_map(|line| line.waiting.front());
        fronts.map(|(since, _)| *since).min()
    }

    /// Takes out the job that has waited longest.
    pub(super) fn pop_oldest(&mut self) -> Option<T> {
        let since = |line: &Line<T>| line.waiting.front().map(|(since, _)| *since);
        let (at, line) = self
            .lines
            .iter_mut()
            .enumerate()
            .min_by_key(|(_, line)| since(line))?;
        let (_, job) = line.waiting.pop_front()?;
        let is_empty = line.waiting.is_empty();
        self.length -= 1;
        if is_empty {
            self.lines.remove(at);
        }
        Some(job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn from(last: u8) -> Origin {
        Origin::from(IpAddr::from([192, 0, 2, last]))
    }

    /// A queue of at most four jobs, named by their origins and numbers.
    #[derive(Default)]
    struct Four(Queue<(u8, u32)>, u32);

    impl Four {
        /// Who is refused, if anybody is.
        fn push(&mut self, origin: u8) -> Option<(u8, u32)> {
            self.1 += 1;
            let now = Instant::now();
            self.0.push(from(origin), (origin, self.1), now, 4)
        }

        fn drain(&mut self) -> Vec<(u8, u32)> {
            std::iter::from_fn(|| self.0.pop()).collect()
        }
    }

    #[test]
    fn origins_take_turns_and_each_is_served_in_order() {
        let mut queue = Four::default();
        for origin in [1, 1, 1, 2] {
            assert_eq!(queue.push(origin), None);
        }
        assert_eq!(queue.0.pop(), Some((1, 1)));
        queue.push(3);
        assert_eq!(queue.drain(), [(2, 4), (1, 2), (3, 5), (1, 3)]);
        assert!(queue.0.is_empty() && queue.0.lines.is_empty());
    }

    #[test]
    fn who_has_the_longest_line_makes_room_until_lines_are_as_long() {
        let mut queue = Four::default();
        for _ in 0..4 {
            queue.push(1);
        }
        assert_eq!(queue.push(1), Some((1, 5)));
        assert_eq!(queue.push(2), Some((1, 4)));
        assert_eq!(queue.push(2), Some((1, 3)));
        assert_eq!(queue.push(2), Some((2, 8)));
        assert_eq!(queue.push(1), Some((1, 9)));
        assert_eq!(queue.push(3), Some((2, 7)));
        assert_eq!(queue.0.len(), 4);
        assert_eq!(queue.push(3), Some((3, 11)));
        assert_eq!(queue.drain(), [(1, 1), (2, 6), (3, 10), (1, 2)]);
    }

    #[test]
    fn who_waited_longest_is_found_in_any_line() {
        let (mut queue, start) = (Queue::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        for (origin, seconds) in [(1, 3), (1, 4), (2, 1), (3, 2)] {
            queue.push(from(origin), seconds, at(seconds), 4);
        }
        for seconds in 1..=4 {
            assert_eq!(queue.oldest(), Some(at(seconds)));
            assert_eq!(queue.pop_oldest(), Some(seconds));
        }
        assert_eq!(
            (queue.oldest(), queue.pop_oldest(), queue.len()),
            (None, None, 0)
        );
    }

    #[test]
    fn a_network_of_ipv6_is_one_origin_and_an_address_of_ipv4_is_one_in_either_form() {
        let origin = |text: &str| Origin::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(origin("2001:db8::1"), origin("2001:db8::2:3"));
        assert_ne!(origin("2001:db8::1"), origin("2001:db8:0:1::1"));
        assert_eq!(origin("::ffff:192.0.2.1"), origin("192.0.2.1"));
        assert_ne!(origin("192.0.2.1"), origin("192.0.2.2"));
    }
}
