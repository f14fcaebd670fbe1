use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn it_holds_what_a_btree_map_holds(keys in prop::collection::vec(0_u16..2000, 0..600), low: u8, high: u8) {
        let mut sorted = Sorted::default();
        let mut model = BTreeMap::new();
        for (i, key) in keys.iter().enumerate() {
            sorted.upsert(key, |value| match value {
                Some(value) => {
                    *value += i;
                    None
                }
                None => Some(i),
            });
            *model.entry(*key).or_insert(0) += i;
        }
        let model: Vec<_> = model.into_iter().collect();
        prop_assert_eq!(sorted.len(), model.len());
        prop_assert_eq!(sorted.range(sorted.start(), sorted.end()).copied().collect::<Vec<_>>(), model.clone());
        let (low, high) = (u16::from(low) * 8, u16::from(high) * 8);
        let range = sorted.range(sorted.seek(|key| *key < low), sorted.seek(|key| *key < high));
        let expected: Vec<_> =
            model.iter().filter(|(key, _)| (low..high).contains(key)).copied().collect();
        prop_assert_eq!(range.clone().copied().collect::<Vec<_>>(), expected.clone());
        prop_assert_eq!(
            range.rev().copied().collect::<Vec<_>>(),
            expected.into_iter().rev().collect::<Vec<_>>()
        );
        sorted.retain(|key, _| key % 3 == 0);
        let kept: Vec<_> = model.into_iter().filter(|(key, _)| key % 3 == 0).collect();
        prop_assert_eq!(sorted.range(sorted.start(), sorted.end()).copied().collect::<Vec<_>>(), kept);
    }
}

#[test]
fn an_ascending_load_fills_its_chunks() {
    let mut sorted = Sorted::default();
    for key in 0..CHUNK * 3 {
        sorted.push(key, ());
    }
    assert_eq!(
        sorted.chunks.iter().map(Vec::len).collect::<Vec<_>>(),
        [CHUNK; 3]
    );
    assert_eq!(sorted.find(|key| key.cmp(&100)), Some(&(100, ())));
    assert_eq!(sorted.find(|key| key.cmp(&1000)), None);
}
