//! Where the deletion of a range of rows changes, without the changes that change nothing.

use crate::storage::{ClusteringBound, DeletionTime};

/// A change: from this bound on, in the direction of the read, this deletion counts.
pub(super) type Change = (ClusteringBound, Option<DeletionTime>);

/// The changes of one partition. The last one is held back: another at the same place takes its place.
#[derive(Debug, Default)]
pub(super) struct TombstoneChanges {
    /// What counts according to the changes given out.
    told: Option<DeletionTime>,
    pending: Option<Change>,
}

impl TombstoneChanges {
    /// The place of the change that is held back, if it changes something and nothing else comes there.
    pub(super) fn due_before(&self, next: Option<&ClusteringBound>) -> Option<&ClusteringBound> {
        let (bound, deletion) = self.pending.as_ref()?;
        (*deletion != self.told && Some(bound) != next).then_some(bound)
    }

    /// Takes in a change; gives the one before it if that changes something.
    pub(super) fn change(
        &mut self,
        bound: &ClusteringBound,
        deletion: Option<DeletionTime>,
    ) -> Option<Change> {
        if let Some((place, pending)) = &mut self.pending
            && place == bound
        {
            *pending = deletion;
            return None;
        }
        let before = self.settle();
        self.pending = Some((bound.clone(), deletion));
        before
    }

    /// What was held back, if it changes something: what comes next lies behind it.
    pub(super) fn settle(&mut self) -> Option<Change> {
        let change = self.pending.take()?;
        if change.1 == self.told {
            return None;
        }
        self.told = change.1;
        Some(change)
    }
}
