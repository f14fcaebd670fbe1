//! Functions and aggregates that the program around the engine brings along, written in Rust. The engine never calls them by
//! itself, since they may block: an execution hands their calls out, and whoever drives it makes them where nobody waits.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use helenus_core::ErrorResponse;
use helenus_core::types::{CqlType, Value};

use crate::schema::type_names;
use crate::term::normal_form;

/// Why a native function gives no value: any error, or a text by `?` or `into()`.
pub type NativeError = Box<dyn Error + Send + Sync>;

/// The keyspace of functions that were given none.
const SYSTEM: &str = "system";

/// What CQL knows of a native function or aggregate.
#[derive(Debug, Clone, PartialEq)]
pub struct NativeSignature {
    /// The keyspace; a function of `system` needs no qualification.
    pub keyspace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
    /// The types of the arguments.
    pub argument_types: Vec<CqlType>,
    /// The type of the result.
    pub returns: CqlType,
    /// Whether it is called with nulls.
    pub called_on_null: bool,
}

impl NativeSignature {
    fn new(name: &str, arguments: impl IntoIterator<Item = CqlType>, returns: CqlType) -> Self {
        let (keyspace, name) = name.split_once('.').unwrap_or((SYSTEM, name));
        Self {
            keyspace: keyspace.into(),
            name: name.into(),
            // Arguments and results are frozen without saying so, as those of user functions.
            argument_types: arguments.into_iter().map(unfrozen).collect(),
            returns: unfrozen(returns),
            called_on_null: false,
        }
    }

    /// The answer to a statement whose call of the function failed.
    pub fn failure(&self, reason: impl fmt::Display) -> ErrorResponse {
        ErrorResponse::function_failure(
            &self.keyspace,
            &self.name,
            type_names(&self.argument_types),
            format!("execution of '{self}' failed: {reason}"),
        )
    }

    /// The arguments as Rust values.
    fn decode(&self, arguments: &[Option<Bytes>]) -> Result<Vec<Option<Value>>, ErrorResponse> {
        let typed = arguments.iter().zip(&self.argument_types);
        let decoded = typed.map(|(bytes, ty)| {
            let value = bytes.as_ref().map(|bytes| Value::decode(ty, bytes));
            value.transpose()
        });
        let decoded: Result<_, _> = decoded.collect();
        decoded.map_err(|error| self.failure(error))
    }

    /// A result as it is stored.
    fn encode(&self, value: Option<Value>) -> Result<Option<Bytes>, ErrorResponse> {
        let Some(value) = value else {
            return Ok(None);
        };
        let mut out = BytesMut::new();
        value.encode(&self.returns, &mut out).map_err(|error| {
            self.failure(format_args!("its result is no {}: {error}", self.returns))
        })?;
        let out = out.freeze();
        Ok(Some(normal_form(&self.returns, &out).unwrap_or(out)))
    }

    /// What code of the program's gives, its panic an error like others: whatever that left half done is its own.
    fn contain<T>(
        &self,
        code: impl FnOnce() -> Result<T, NativeError>,
    ) -> Result<T, ErrorResponse> {
        match catch_unwind(AssertUnwindSafe(code)) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(self.failure(error)),
            Err(panic) => Err(self.failure(format_args!("it panicked: {}", text_of(&*panic)))),
        }
    }
}

impl fmt::Display for NativeSignature {
    /// `keyspace.name[type, type]`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = type_names(&self.argument_types).join(", ");
        write!(f, "{}.{}[{types}]", self.keyspace, self.name)
    }
}

fn unfrozen(ty: CqlType) -> CqlType {
    ty.strip_frozen().clone()
}

/// What a panic says.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a text")
}

type Body = dyn Fn(&[Option<Value>]) -> Result<Option<Value>, NativeError> + Send + Sync;

/// A function of CQL that is written in Rust.
///
/// It may block, fail and panic: its statement is answered FUNCTION_FAILURE then, and no other is held up.
///
/// ```
/// use helenus_core::types::{CqlType, Value};
/// use helenus_engine::NativeFunction;
///
/// let double = NativeFunction::new("shop.twice", [CqlType::Int], CqlType::Int, |values| {
///     let [Some(Value::Int(number))] = values else {
///         return Err("an int is expected".into());
///     };
///     Ok(Some(Value::Int(number.checked_mul(2).ok_or("too large")?)))
/// });
/// assert_eq!(double.signature().to_string(), "shop.twice[int]");
/// ```
pub struct NativeFunction {
    signature: Arc<NativeSignature>,
    body: Box<Body>,
}

impl NativeFunction {
    /// A function of this name, `keyspace.name` or for all keyspaces `name`, from values of these types to one of that.
    ///
    /// `None` is null. It isn't called where an argument is null, and the result is null then, unless it is
    /// [`called_on_null`](Self::called_on_null). A result that isn't of the type fails the statement.
    pub fn new(
        name: &str,
        arguments: impl IntoIterator<Item = CqlType>,
        returns: CqlType,
        body: impl Fn(&[Option<Value>]) -> Result<Option<Value>, NativeError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            signature: Arc::new(NativeSignature::new(name, arguments, returns)),
            body: Box::new(body),
        }
    }

    /// Has it called with nulls too, as `CALLED ON NULL INPUT`.
    #[must_use]
    pub fn called_on_null(mut self) -> Self {
        Arc::make_mut(&mut self.signature).called_on_null = true;
        self
    }

    /// What CQL knows of it.
    pub fn signature(&self) -> &Arc<NativeSignature> {
        &self.signature
    }

    /// Calls it, which may take as long as it likes.
    pub(crate) fn call(&self, arguments: &[Option<Bytes>]) -> Result<Option<Bytes>, ErrorResponse> {
        let signature = &self.signature;
        let values = signature.decode(arguments)?;
        signature.encode(signature.contain(|| (self.body)(&values))?)
    }
}

impl fmt::Debug for NativeFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NativeFunction")
            .field(&self.signature)
            .finish()
    }
}

/// The state of a native aggregate between rows.
pub(crate) struct NativeState(Box<dyn Any + Send>);

impl fmt::Debug for NativeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NativeState")
    }
}

type State = Box<dyn Any + Send>;
type Initial = dyn Fn() -> State + Send + Sync;
type Step = dyn Fn(&mut State, &[Option<Value>]) -> Result<(), NativeError> + Send + Sync;
type Last = dyn Fn(State) -> Result<Option<Value>, NativeError> + Send + Sync;

/// An aggregate of CQL that is written in Rust: it folds the rows of a group into a state of its own.
///
/// As a [`NativeFunction`] it may block, fail and panic.
///
/// ```
/// use helenus_core::types::{CqlType, Value};
/// use helenus_engine::NativeAggregate;
///
/// let median = NativeAggregate::new(
///     "median",
///     [CqlType::Int],
///     CqlType::Int,
///     Vec::new,
///     |seen: &mut Vec<i32>, values| {
///         seen.extend(values.iter().flatten().filter_map(|value| match value {
///             Value::Int(number) => Some(*number),
///             _ => None,
///         }));
///         Ok(())
///     },
///     |mut seen| {
///         seen.sort_unstable();
///         Ok(seen.get(seen.len() / 2).copied().map(Value::Int))
///     },
/// );
/// assert_eq!(median.signature().to_string(), "system.median[int]");
/// ```
pub struct NativeAggregate {
    signature: Arc<NativeSignature>,
    initial: Box<Initial>,
    step: Box<Step>,
    last: Box<Last>,
}

impl NativeAggregate {
    /// An aggregate of this name, `keyspace.name` or for all keyspaces `name`: `initial` gives the state of a group without
    /// rows, `step` takes a row's values in, and `last` makes the result.
    ///
    /// Rows of which a value is null are left out, unless it is [`called_on_null`](Self::called_on_null).
    pub fn new<S: Send + 'static>(
        name: &str,
        arguments: impl IntoIterator<Item = CqlType>,
        returns: CqlType,
        initial: impl Fn() -> S + Send + Sync + 'static,
        step: impl Fn(&mut S, &[Option<Value>]) -> Result<(), NativeError> + Send + Sync + 'static,
        last: impl Fn(S) -> Result<Option<Value>, NativeError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            signature: Arc::new(NativeSignature::new(name, arguments, returns)),
            initial: Box::new(move || Box::new(initial())),
            step: Box::new(move |state, values| match state.downcast_mut::<S>() {
                Some(state) => step(state, values),
                None => Err(foreign_state()),
            }),
            last: Box::new(move |state| match state.downcast::<S>() {
                Ok(state) => last(*state),
                Err(_) => Err(foreign_state()),
            }),
        }
    }

    /// Has it take rows in of which a value is null.
    #[must_use]
    pub fn called_on_null(mut self) -> Self {
        Arc::make_mut(&mut self.signature).called_on_null = true;
        self
    }

    /// What CQL knows of it.
    pub fn signature(&self) -> &Arc<NativeSignature> {
        &self.signature
    }

    /// Takes a row's values in; the first row of all makes the state.
    pub(crate) fn step(
        &self,
        state: &mut Option<NativeState>,
        arguments: &[Option<Bytes>],
    ) -> Result<(), ErrorResponse> {
        let values = self.signature.decode(arguments)?;
        self.signature.contain(|| {
            let state = state.get_or_insert_with(|| NativeState((self.initial)()));
            (self.step)(&mut state.0, &values)
        })
    }

    /// The result of the last state.
    pub(crate) fn finish(
        &self,
        state: Option<NativeState>,
    ) -> Result<Option<Bytes>, ErrorResponse> {
        let result = self.signature.contain(|| {
            let state = state.map_or_else(|| (self.initial)(), |state| state.0);
            (self.last)(state)
        });
        self.signature.encode(result?)
    }
}

/// States never get from one aggregate to another.
fn foreign_state() -> NativeError {
    "the state is another aggregate's".into()
}

impl fmt::Debug for NativeAggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NativeAggregate")
            .field(&self.signature)
            .finish()
    }
}
