//! [`FromCql`] for tuples of up to 16. A tuple that ends early has nulls for the rest.

use super::FromCql;
use crate::types::elements::{self, Fields};
use crate::types::{CqlType, ValueError};

macro_rules! tuple {
    ($($part:ident $field:ident),+) => {
        impl<'a, $($part: FromCql<'a>),+> FromCql<'a> for ($($part,)+) {
            fn accepts(ty: &CqlType) -> bool {
                match ty.strip_frozen() {
                    CqlType::Tuple(types) => match &**types {
                        [$($field),+] => $($part::accepts($field))&&+,
                        _ => false,
                    },
                    _ => false,
                }
            }

            fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
                let mismatch = || Err(ValueError::Mismatch(ty.clone()));
                let CqlType::Tuple(types) = ty.strip_frozen() else {
                    return mismatch();
                };
                let [$($field),+] = &**types else {
                    return mismatch();
                };
                let mut fields = elements::fields(bytes.ok_or(ValueError::Null)?);
                let tuple = ($($part::from_cql($field, next(&mut fields)?)?,)+);
                match fields.is_empty() {
                    true => Ok(tuple),
                    false => Err(ValueError::TrailingFields("tuple")),
                }
            }
        }
    };
}

fn next<'a>(fields: &mut Fields<'a>) -> Result<Option<&'a [u8]>, ValueError> {
    fields.next().transpose().map(Option::flatten)
}

tuple!(A a);
tuple!(A a, B b);
tuple!(A a, B b, C c);
tuple!(A a, B b, C c, D d);
tuple!(A a, B b, C c, D d, E e);
tuple!(A a, B b, C c, D d, E e, F f);
tuple!(A a, B b, C c, D d, E e, F f, G g);
tuple!(A a, B b, C c, D d, E e, F f, G g, H h);
tuple!(A a, B b, C c, D d, E e, F f, G g, H h, I i);
tuple!(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j);
tuple!(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k);
tuple!(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l);
tuple!(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l, M m);
tuple!(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l, M m, N n);
tuple!(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l, M m, N n, O o);
tuple!(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l, M m, N n, O o, P p);
