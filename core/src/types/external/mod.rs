//! Types of other crates, each behind the feature of its name.

#[cfg(feature = "bigdecimal")]
mod bigdecimal;
#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "time")]
mod time;

/// Read and written as a type of this crate: the other crate's type, ours, and the conversions, which fail with a
/// [`ValueError`](super::ValueError).
#[cfg(any(feature = "chrono", feature = "time"))]
macro_rules! converted {
    ($($other:ty, $ours:ty, $read:expr, $write:expr;)*) => {$(
        impl<'a> $crate::types::FromCql<'a> for $other {
            fn accepts(ty: &$crate::types::CqlType) -> bool {
                <$ours as $crate::types::FromCql>::accepts(ty)
            }

            fn from_cql(
                ty: &'a $crate::types::CqlType,
                bytes: Option<&'a [u8]>,
            ) -> Result<Self, $crate::types::ValueError> {
                let read: fn($ours) -> Option<Self> = $read;
                let out_of_range = $crate::types::ValueError::OutOfRange(std::any::type_name::<Self>());
                read(<$ours as $crate::types::FromCql>::from_cql(ty, bytes)?).ok_or(out_of_range)
            }
        }

        impl $crate::types::ToCql for $other {
            fn to_cql(
                &self,
                ty: Option<&$crate::types::CqlType>,
                out: &mut bytes::BytesMut,
            ) -> Result<$crate::types::Written, $crate::types::ValueError> {
                let write: fn(&Self) -> $ours = $write;
                $crate::types::ToCql::to_cql(&write(self), ty, out)
            }

            fn own_size(&self) -> Option<usize> {
                let write: fn(&Self) -> $ours = $write;
                $crate::types::ToCql::own_size(&write(self))
            }
        }
    )*};
}
#[cfg(any(feature = "chrono", feature = "time"))]
use converted;
