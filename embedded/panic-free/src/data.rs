//! The entry points that plain data has: what `derive` writes.
//!
//! But for `Debug`: for a struct of more than five fields `derive` calls a function of core that compares two lengths, both
//! written by the compiler, and panics where they differ; and core's text of a number, optimised for size, indexes a table.

use crate::{Entry, entries};
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

/// `Clone` of `T`.
#[derive(Debug)]
pub struct Data<T>(PhantomData<T>);

impl<T: Clone> Data<T> {
    /// Its address.
    pub const TABLE: &'static [Entry] = entries![<T as Clone>::clone];
}

/// `Clone` and `PartialEq` of `T`.
#[derive(Debug)]
pub struct Comparable<T>(PhantomData<T>);

impl<T: Clone + PartialEq> Comparable<T> {
    /// Their addresses.
    pub const TABLE: &'static [Entry] = entries![<T as Clone>::clone, <T as PartialEq>::eq];
}

/// What `derive` gives to a number `T`.
#[derive(Debug)]
pub struct Ordered<T>(PhantomData<T>);

impl<T: Clone + Ord + Hash + Default> Ordered<T> {
    /// The addresses.
    pub const TABLE: &'static [Entry] = entries![
        <T as Clone>::clone,
        <T as PartialEq>::eq,
        <T as PartialOrd>::partial_cmp,
        <T as Ord>::cmp,
        Self::hash,
        <T as Default>::default,
    ];

    fn hash(value: &T, mut hasher: &mut dyn Hasher) {
        value.hash(&mut hasher);
    }
}
