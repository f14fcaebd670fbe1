//! Local variables: their scopes, and which of them surely have a value (JLS, chapter 16).

use std::sync::Arc;

use super::types::Type;

/// A variable in scope.
#[derive(Debug)]
struct Variable {
    name: Arc<str>,
    ty: Type,
    is_final: bool,
}

/// The variables in scope, innermost last: the place of each is its index.
#[derive(Debug, Default)]
pub(super) struct Locals {
    variables: Vec<Variable>,
    assigned: Vec<bool>,
    most: usize,
    loops: Vec<LoopScope>,
}

#[derive(Debug, Default)]
struct LoopScope {
    /// What is assigned at every `break` so far; `None` without one.
    at_breaks: Option<Vec<bool>>,
    has_continue: bool,
    outer: usize,
}

/// Which variables have a value.
pub(super) type Assigned = Vec<bool>;

impl Locals {
    /// Declares a variable; `None` if its name is taken.
    pub(super) fn declare(
        &mut self,
        name: &str,
        ty: Type,
        is_final: bool,
        assigned: bool,
    ) -> Option<usize> {
        if self.find(name).is_some() {
            return None;
        }
        self.variables.push(Variable {
            name: name.into(),
            ty,
            is_final,
        });
        self.assigned.push(assigned);
        self.most = self.most.max(self.variables.len());
        Some(self.variables.len() - 1)
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.variables
            .iter()
            .position(|variable| &*variable.name == name)
    }

    pub(super) fn ty(&self, place: usize) -> Type {
        self.variables
            .get(place)
            .map_or(Type::Null, |variable| variable.ty.clone())
    }

    pub(super) fn is_final(&self, place: usize) -> bool {
        self.variables
            .get(place)
            .is_some_and(|variable| variable.is_final)
    }

    pub(super) fn is_assigned(&self, place: usize) -> bool {
        self.assigned.get(place).copied().unwrap_or(false)
    }

    pub(super) fn assign(&mut self, place: usize) {
        if let Some(assigned) = self.assigned.get_mut(place) {
            *assigned = true;
        }
    }

    /// How many variables there are now.
    pub(super) fn mark(&self) -> usize {
        self.variables.len()
    }

    /// Ends the scope of all variables declared since the mark.
    pub(super) fn forget(&mut self, mark: usize) {
        self.variables.truncate(mark);
        self.assigned.truncate(mark);
    }

    /// How many places a call needs.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    pub(super) fn state(&self) -> Assigned {
        self.assigned.clone()
    }

    /// Goes back to what was assigned at another point.
    pub(super) fn restore(&mut self, state: Assigned) {
        self.assigned = state;
    }

    /// What is assigned where two ways meet; a way that doesn't get there takes nothing away.
    pub(super) fn meet(&mut self, mut other: Assigned, here: bool, there: bool) {
        other.resize(self.assigned.len(), true);
        match (here, there) {
            (true, true) => {
                for (own, other) in self.assigned.iter_mut().zip(&other) {
                    *own &= other;
                }
            }
            (false, true) => self.assigned = other,
            _ => {}
        }
    }

    pub(super) fn enter_loop(&mut self) {
        let outer = self.variables.len();
        self.loops.push(LoopScope {
            outer,
            ..LoopScope::default()
        });
    }

    /// Notes a `break`; whether there is a loop to leave.
    pub(super) fn note_break(&mut self) -> bool {
        let Some(scope) = self.loops.last_mut() else {
            return false;
        };
        let mut state = self.assigned.clone();
        state.truncate(scope.outer);
        match &mut scope.at_breaks {
            Some(known) => known
                .iter_mut()
                .zip(&state)
                .for_each(|(known, now)| *known &= now),
            None => scope.at_breaks = Some(state),
        }
        true
    }

    /// Notes a `continue`; whether there is a loop to go on with.
    pub(super) fn note_continue(&mut self) -> bool {
        match self.loops.last_mut() {
            Some(scope) => {
                scope.has_continue = true;
                true
            }
            None => false,
        }
    }

    /// Ends a loop: what is assigned at its breaks, if it has any, and whether it has a `continue`.
    pub(super) fn leave_loop(&mut self) -> (Option<Assigned>, bool) {
        self.loops
            .pop()
            .map_or((None, false), |scope| (scope.at_breaks, scope.has_continue))
    }
}
