//! How near two vectors of floats are, as Cassandra's `similarity_…` functions and its vector indexes count it: greater
//! is nearer.

use crate::schema::Similarity;

/// The similarity of two serialized `vector<float, n>`; `None` for vectors of different length, and where one of them
/// has no direction that an angle could be measured from.
pub(crate) fn similarity(by: Similarity, a: &[u8], b: &[u8]) -> Option<f32> {
    if a.len() != b.len() {
        return None;
    }
    let sum = |term: fn(f64, f64) -> f64| -> f64 {
        floats(a).zip(floats(b)).map(|(a, b)| term(a, b)).sum()
    };
    let score = match by {
        Similarity::Cosine => {
            let lengths = sum(|a, _| a * a).sqrt() * sum(|_, b| b * b).sqrt();
            (1.0 + sum(|a, b| a * b) / lengths) / 2.0
        }
        Similarity::Euclidean => 1.0 / (1.0 + sum(|a, b| (a - b) * (a - b))),
        Similarity::DotProduct => (1.0 + sum(|a, b| a * b)) / 2.0,
    };
    #[expect(clippy::cast_possible_truncation, reason = "a similarity is a `float`")]
    Some(score as f32).filter(|score| !score.is_nan())
}

fn floats(vector: &[u8]) -> impl Iterator<Item = f64> {
    let (floats, _) = vector.as_chunks::<4>();
    floats
        .iter()
        .map(|float| f64::from(f32::from_be_bytes(*float)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(by: Similarity, a: [f32; 2], b: [f32; 2]) -> Option<f32> {
        let bytes = |vector: [f32; 2]| vector.map(f32::to_be_bytes).concat();
        similarity(by, &bytes(a), &bytes(b))
    }

    /// What Apache Cassandra 5.0.4 computes.
    #[test]
    fn similarities_are_cassandras() {
        let query = [1.0, 0.1];
        for (vector, cosine, euclidean, dot) in [
            ([0.9, 0.1], 0.999_969_84, 0.990_099, 0.955),
            ([1.0, 0.0], 0.997_518_6, 0.990_099, 1.0),
            ([7.0, 7.0], 0.886_978_6, 0.011_818_934, 4.35),
            ([0.0, 5.0], 0.549_751_9, 0.038_446_75, 0.75),
        ] {
            assert_eq!(of(Similarity::Cosine, vector, query), Some(cosine));
            assert_eq!(of(Similarity::Euclidean, vector, query), Some(euclidean));
            assert_eq!(of(Similarity::DotProduct, vector, query), Some(dot));
        }
    }

    #[test]
    fn a_vector_of_zeros_has_no_angle() {
        assert_eq!(of(Similarity::Cosine, [0.0, 0.0], [1.0, 0.0]), None);
        assert_eq!(of(Similarity::Euclidean, [0.0, 0.0], [1.0, 0.0]), Some(0.5));
    }
}
