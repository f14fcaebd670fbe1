//! The bind variables of a statement as planning finds them: name and type of what each is bound to.

use std::cell::RefCell;
use std::sync::Arc;

use helenus_core::ErrorResponse;
use helenus_core::message::ColumnSpec;
use helenus_core::types::CqlType;

use crate::access::Resource;
use crate::cql::ast;
use crate::functions::{Function, NativeFunction};
use crate::schema::{Column, ColumnKind, Table, UserFunction};
use crate::term::Term;

/// What a term is assigned to or compared with.
#[derive(Debug, Clone)]
pub(crate) struct Receiver {
    /// The keyspace, as metadata names it.
    pub(crate) keyspace: Arc<str>,
    /// The table, as metadata names it.
    pub(crate) table: Arc<str>,
    /// The name of a variable that is bound here.
    pub(crate) name: Arc<str>,
    /// The type.
    pub(crate) ty: CqlType,
    /// The position in the partition key, for a column of it.
    key_position: Option<usize>,
}

impl Receiver {
    /// A column.
    pub(crate) fn column(table: &Table, column: &Column) -> Self {
        Self {
            keyspace: table.keyspace.clone(),
            table: table.name.clone(),
            name: column.name.clone(),
            ty: column.ty.clone(),
            key_position: (column.kind == ColumnKind::PartitionKey).then_some(column.position),
        }
    }

    /// A place in a statement on this table that isn't a column, such as `[limit]`.
    pub(crate) fn named(table: &Table, name: &str, ty: CqlType) -> Self {
        Self {
            keyspace: table.keyspace.clone(),
            table: table.name.clone(),
            name: name.into(),
            ty,
            key_position: None,
        }
    }

    /// A part of this receiver.
    pub(crate) fn part(&self, name: String, ty: CqlType) -> Self {
        Self {
            keyspace: self.keyspace.clone(),
            table: self.table.clone(),
            name: name.into(),
            ty,
            key_position: None,
        }
    }

    fn spec(&self, name: Option<&ast::Name>) -> ColumnSpec<'static> {
        ColumnSpec {
            keyspace: self.keyspace.clone().into(),
            table: self.table.clone().into(),
            name: name.unwrap_or(&self.name).clone().into(),
            ty: self.ty.clone(),
        }
    }
}

/// A call of a native function among a statement's terms: its result is bound, at a place behind the variables, like the
/// value of one.
#[derive(Debug, Clone)]
pub(crate) struct NativeCall {
    /// What is called.
    pub(crate) function: Arc<NativeFunction>,
    /// With what.
    pub(crate) arguments: Vec<Term>,
    /// Where its result is bound.
    pub(crate) place: usize,
    /// How many calls it waits for, one behind the other.
    pub(crate) round: usize,
}

/// The variables found so far, and the user functions.
#[derive(Debug, Default)]
pub(crate) struct Markers {
    specs: Vec<Option<ColumnSpec<'static>>>,
    key_parts: Vec<Option<usize>>,
    /// How many more values there are at execution than variables: columns of JSON documents.
    columns: usize,
    functions: RefCell<Vec<Arc<UserFunction>>>,
    executes: RefCell<Vec<Resource>>,
    natives: Vec<NativeCall>,
}

impl Markers {
    /// For a statement with that many markers.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            specs: vec![None; count],
            ..Self::default()
        }
    }

    /// Sets places aside, behind all variables, for values that execution takes from a document; the first of them.
    pub(crate) fn set_aside(&mut self, columns: usize) -> usize {
        let first = self.places();
        self.columns += columns;
        first
    }

    /// The call of a native function, as a term that stands for its result.
    pub(crate) fn call(&mut self, function: Arc<NativeFunction>, arguments: Vec<Term>) -> Term {
        let place = self.set_aside(1);
        let rounds = arguments.iter().map(|argument| self.rounds(argument));
        self.natives.push(NativeCall {
            round: rounds.max().unwrap_or(0),
            function,
            arguments,
            place,
        });
        Term::Marker(place)
    }

    /// How many rounds of calls must have ended before a term has a value.
    fn rounds(&self, term: &Term) -> usize {
        match term {
            Term::Null | Term::Constant(_) => 0,
            Term::Marker(place) => {
                let mut calls = self.natives.iter();
                let call = calls.find(|call| call.place == *place);
                call.map_or(0, |call| call.round + 1)
            }
            Term::Build(shape) => self.most_rounds(&shape.elements),
            Term::Call(call) => self.most_rounds(&call.arguments),
        }
    }

    fn most_rounds(&self, terms: &[Term]) -> usize {
        terms
            .iter()
            .map(|term| self.rounds(term))
            .max()
            .unwrap_or(0)
    }

    /// Whether a term calls a native function.
    pub(crate) fn calls_natives(&self) -> bool {
        !self.natives.is_empty()
    }

    /// The calls of native functions among the terms.
    pub(crate) fn take_natives(&mut self) -> Vec<NativeCall> {
        std::mem::take(&mut self.natives)
    }

    /// How many values there are at execution.
    pub(crate) fn places(&self) -> usize {
        self.specs.len() + self.columns
    }

    /// Notes the user functions that a function calls, and which permissions that takes.
    pub(crate) fn called(&self, function: &Function) {
        let mut executes = self.executes.borrow_mut();
        for resource in function.resources() {
            if !executes.contains(&resource) {
                executes.push(resource);
            }
        }
        let mut known = self.functions.borrow_mut();
        for function in function.user_functions() {
            if !known.iter().any(|known| Arc::ptr_eq(known, function)) {
                known.push(function.clone());
            }
        }
    }

    /// The user functions that were called.
    pub(crate) fn functions(&self) -> Vec<Arc<UserFunction>> {
        self.functions.borrow().clone()
    }

    /// The user functions and aggregates that were called, as what permission is needed for.
    pub(crate) fn executes(&self) -> Vec<Resource> {
        self.executes.borrow().clone()
    }

    /// Notes what a marker is bound to.
    pub(crate) fn found(&mut self, index: usize, name: Option<&ast::Name>, receiver: &Receiver) {
        if self.specs.len() <= index {
            self.specs.resize(index + 1, None);
        }
        if let Some(place) = self.specs.get_mut(index) {
            *place = Some(receiver.spec(name));
        }
        if let Some(position) = receiver.key_position {
            if self.key_parts.len() <= position {
                self.key_parts.resize(position + 1, None);
            }
            if let Some(place) = self.key_parts.get_mut(position) {
                *place = Some(index);
            }
        }
    }

    /// The variables that make up a partition key of that many parts, in its order; empty unless they all do.
    pub(crate) fn key_indexes(&self, parts: usize) -> Vec<u16> {
        if self.key_parts.len() != parts {
            return Vec::new();
        }
        let indexes: Option<Vec<u16>> = self
            .key_parts
            .iter()
            .map(|index| index.and_then(|index| u16::try_from(index).ok()))
            .collect();
        indexes.unwrap_or_default()
    }

    /// The variables in order. A marker whose type nothing gives is an error.
    pub(crate) fn finish(self) -> Result<Vec<ColumnSpec<'static>>, ErrorResponse> {
        self.specs
            .into_iter()
            .map(|spec| {
                spec.ok_or_else(|| {
                    ErrorResponse::invalid("Cannot infer the type of a bind variable")
                })
            })
            .collect()
    }
}
