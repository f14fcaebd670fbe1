//! [`ToCql`] for tuples of up to 16. The type may have more fields, which are null then.

use bytes::BytesMut;

use super::{ToCql, Written, mismatch};
use crate::types::{CqlType, ValueError};

macro_rules! tuple {
    ($count:literal: $($part:ident $field:ident),+) => {
        impl<$($part: ToCql),+> ToCql for ($($part,)+) {
            fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
                let mut types = field_types(ty, $count)?.map(<[CqlType]>::iter);
                let ($($field,)+) = self;
                $(put_field($field, types.as_mut().and_then(Iterator::next), out)?;)+
                Ok(Written::Value)
            }
        }
    };
}

/// The types of a tuple's fields, of which there are at least `count`.
fn field_types(ty: Option<&CqlType>, count: usize) -> Result<Option<&[CqlType]>, ValueError> {
    match ty.map(CqlType::strip_frozen) {
        None => Ok(None),
        Some(CqlType::Tuple(types)) if types.len() >= count => Ok(Some(types)),
        Some(ty) => Err(mismatch(ty)),
    }
}

/// Writes a tuple's or user type's field.
pub(super) fn put_field<T: ToCql + ?Sized>(
    field: &T,
    ty: Option<&CqlType>,
    out: &mut BytesMut,
) -> Result<(), ValueError> {
    match field.to_value(ty, out)? {
        Written::Value | Written::Null => Ok(()),
        Written::Unset => Err(ValueError::Unset),
    }
}

tuple!(1: A a);
tuple!(2: A a, B b);
tuple!(3: A a, B b, C c);
tuple!(4: A a, B b, C c, D d);
tuple!(5: A a, B b, C c, D d, E e);
tuple!(6: A a, B b, C c, D d, E e, F f);
tuple!(7: A a, B b, C c, D d, E e, F f, G g);
tuple!(8: A a, B b, C c, D d, E e, F f, G g, H h);
tuple!(9: A a, B b, C c, D d, E e, F f, G g, H h, I i);
tuple!(10: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j);
tuple!(11: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k);
tuple!(12: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l);
tuple!(13: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l, M m);
tuple!(14: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l, M m, N n);
tuple!(15: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l, M m, N n, O o);
tuple!(16: A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l, M m, N n, O o, P p);
