//! Insertion into and removal from short vectors.
//!
//! Those of `heapless` panic where an index is out of bounds. Here the elements are passed on one by one with what cannot
//! panic, so that no compiler has to find out that the index is good. At the end of the vector, where numbers that come in
//! order go, nothing is passed on.

use heapless::Vec;
use std::mem::swap;

/// Puts `value` at `index`, or at the end if there is no such index. Gives it back if there is no room.
pub(super) fn insert<T, const N: usize>(vec: &mut Vec<T, N>, index: usize, value: T) -> Result<(), T> {
    if vec.is_full() {
        return Err(value);
    }
    let mut carried = value;
    for slot in vec.get_mut(index..).into_iter().flatten() {
        swap(slot, &mut carried);
    }
    vec.push(carried)
}

/// Takes the element at `index` out; `None` if there is no such index.
pub(super) fn remove<T, const N: usize>(vec: &mut Vec<T, N>, index: usize) -> Option<T> {
    if index >= vec.len() {
        return None;
    }
    let mut carried = vec.pop()?;
    for slot in vec.get_mut(index..).into_iter().flatten().rev() {
        swap(slot, &mut carried);
    }
    Some(carried)
}

#[cfg(test)]
mod tests {
    use super::{insert, remove};
    use heapless::Vec;

    fn vec(elements: &[u8]) -> Vec<u8, 4> {
        Vec::from_slice(elements).unwrap()
    }

    #[test]
    fn what_lies_behind_moves_up_and_a_full_vector_refuses() {
        for (index, expected) in [(0, [9, 1, 2, 3]), (1, [1, 9, 2, 3]), (3, [1, 2, 3, 9]), (7, [1, 2, 3, 9])]
        {
            let mut vec = vec(&[1, 2, 3]);
            assert_eq!(insert(&mut vec, index, 9), Ok(()));
            assert_eq!(vec, expected);
            assert_eq!(insert(&mut vec, index, 8), Err(8));
            assert_eq!(vec, expected);
        }
    }

    #[test]
    fn what_lies_behind_a_removed_element_moves_down() {
        for (index, out, expected) in [(0, 1, [2, 3]), (1, 2, [1, 3]), (2, 3, [1, 2])] {
            let mut vec = vec(&[1, 2, 3]);
            assert_eq!(remove(&mut vec, index), Some(out));
            assert_eq!(vec, expected);
        }
        assert_eq!(remove(&mut vec(&[]), 0), None);
        assert_eq!(remove(&mut vec(&[1, 2]), 2), None);
    }
}
