//! Native functions that once didn't end: nobody calls them again, so that they take no more threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use helenus_core::message::ErrorResponse;
use helenus_engine::NativeSignature;
use helenus_engine::execution::Calls;
use helenus_server::JobLease;

/// The functions that aren't called any more.
#[derive(Debug, Default)]
pub(super) struct Quarantine {
    /// Whether there are any.
    is_used: AtomicBool,
    functions: RwLock<Vec<Arc<NativeSignature>>>,
}

/// What a job is calling.
#[derive(Debug, Default)]
pub(super) struct Caller(Mutex<Option<Arc<NativeSignature>>>);

impl Caller {
    fn set(&self, function: &Arc<NativeSignature>) {
        let mut calling = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if calling
            .as_ref()
            .is_none_or(|known| !Arc::ptr_eq(known, function))
        {
            *calling = Some(Arc::clone(function));
        }
    }

    fn get(&self) -> Option<Arc<NativeSignature>> {
        let calling = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calling.clone()
    }
}

impl Quarantine {
    /// The functions.
    pub(super) fn names(&self) -> Vec<String> {
        let functions = self
            .functions
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        functions.iter().map(ToString::to_string).collect()
    }

    /// Why these calls can't be made, if one of the functions is in quarantine.
    pub(super) fn refusal(&self, calls: &Calls) -> Option<ErrorResponse> {
        if !self.is_used.load(Ordering::Relaxed) {
            return None;
        }
        calls.functions().find_map(|function| self.refuse(function))
    }

    fn refuse(&self, function: &Arc<NativeSignature>) -> Option<ErrorResponse> {
        if !self.is_used.load(Ordering::Relaxed) {
            return None;
        }
        let functions = self
            .functions
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let is_in = functions.iter().any(|known| Arc::ptr_eq(known, function));
        is_in.then(|| function.failure("it is in quarantine, for a call of it did not end"))
    }

    /// Makes the calls one after the other, each with all the time that one may take; gives what failed.
    pub(super) fn make(
        &self,
        calls: &mut Calls,
        caller: &Caller,
        lease: &JobLease,
    ) -> Option<ErrorResponse> {
        while let Some(function) = calls.peek() {
            if let Some(refusal) = self.refuse(function) {
                return Some(refusal);
            }
            caller.set(function);
            if !lease.renew() {
                return Some(function.failure("nobody waits for it any more"));
            }
            if let Err(error) = calls.make() {
                return Some(error);
            }
        }
        None
    }

    /// Puts the function that a job is stuck in into quarantine; what its request is answered.
    pub(super) fn timed_out(&self, caller: &Caller, timeout: Duration) -> ErrorResponse {
        let Some(function) = caller.get() else {
            return ErrorResponse::server_error("The request's work did not end");
        };
        let mut functions = self
            .functions
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if !functions.iter().any(|known| Arc::ptr_eq(known, &function)) {
            tracing::error!(
                "native function {function} did not end within {timeout:?}; it is not called again"
            );
            functions.push(Arc::clone(&function));
            self.is_used.store(true, Ordering::Relaxed);
        }
        function.failure(format_args!("it did not end within {timeout:?}"))
    }
}
