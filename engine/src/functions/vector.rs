//! Functions of vectors. Answers to Cassandra's `VectorFcts`.

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::{Function, given};
use crate::schema::Similarity;
use crate::types::similarity;

/// The similarity functions, for the type of the first argument that is a vector.
pub(super) fn candidates<'t>(
    name: &str,
    mut types: impl Iterator<Item = &'t CqlType>,
    found: &mut Vec<Function>,
) {
    let run: super::Run = match name {
        "similarity_cosine" => |_, arguments, _| similar(Similarity::Cosine, arguments),
        "similarity_euclidean" => |_, arguments, _| similar(Similarity::Euclidean, arguments),
        "similarity_dot_product" => |_, arguments, _| similar(Similarity::DotProduct, arguments),
        _ => return,
    };
    let vector =
        types.find(|ty| matches!(ty, CqlType::Vector(element, _) if **element == CqlType::Float));
    if let Some(vector) = vector {
        let arguments = vec![vector.clone(), vector.clone()];
        found.push(Function::new(name, arguments, CqlType::Float, run));
    }
}

fn similar(by: Similarity, arguments: &[Option<Bytes>]) -> Result<Option<Bytes>, ErrorResponse> {
    match similarity(by, given(arguments, 0), given(arguments, 1)) {
        Some(similarity) => Ok(Some(Bytes::copy_from_slice(&similarity.to_be_bytes()))),
        None => Err(ErrorResponse::invalid(
            "Function similarity_cosine doesn't support all-zero vectors.",
        )),
    }
}
