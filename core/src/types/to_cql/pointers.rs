//! [`ToCql`] for what points at a value.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use bytes::BytesMut;

use super::{ToCql, Written};
use crate::types::{CqlType, ValueError};

macro_rules! pointer {
    ($($pointer:ty $(, $t:ident)?;)*) => {$(
        impl<$($t: ToCql + ?Sized)?> ToCql for $pointer {
            #[inline]
            fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
                (**self).to_cql(ty, out)
            }

            #[inline]
            fn to_value(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
                (**self).to_value(ty, out)
            }

            #[inline]
            fn own_size(&self) -> Option<usize> {
                (**self).own_size()
            }
        }
    )*};
}

pointer! {
    &T, T;
    Box<T>, T;
    Rc<T>, T;
    Arc<T>, T;
    Cow<'_, str>;
    String;
}
