//! Consumers that stop a reader where others come in. Their pause is the consumer's own, or `None` at the limit.

use std::ops::ControlFlow;

use crate::storage::DecoratedKey;

use super::{MutationConsumer, MutationFragment, Place};

/// Stops just after the partition's end.
pub(super) struct Within<'c, C>(pub(super) &'c mut C);

impl<C: MutationConsumer> MutationConsumer for Within<'_, C> {
    type Pause = Option<C::Pause>;

    #[inline]
    fn consume(
        &mut self,
        key: &DecoratedKey,
        fragment: MutationFragment<'_>,
    ) -> ControlFlow<Self::Pause> {
        match self.0.consume(key, fragment) {
            ControlFlow::Break(pause) => ControlFlow::Break(Some(pause)),
            ControlFlow::Continue(()) => match fragment {
                MutationFragment::PartitionEnd => ControlFlow::Break(None),
                _ => ControlFlow::Continue(()),
            },
        }
    }
}

/// Stops at the first fragment that isn't a row before a place; that one it doesn't take.
pub(super) struct Before<'c, C> {
    pub(super) limit: Place<'c>,
    pub(super) reversed: bool,
    pub(super) consumer: &'c mut C,
}

impl<C: MutationConsumer> MutationConsumer for Before<'_, C> {
    type Pause = Option<C::Pause>;

    #[inline]
    fn consume(
        &mut self,
        key: &DecoratedKey,
        fragment: MutationFragment<'_>,
    ) -> ControlFlow<Self::Pause> {
        match fragment {
            MutationFragment::Row(place, _)
                if Place::Row(&place.sort)
                    .order(self.limit, self.reversed)
                    .is_lt() =>
            {
                self.consumer.consume(key, fragment).map_break(Some)
            }
            _ => ControlFlow::Break(None),
        }
    }
}
