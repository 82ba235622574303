//! The hash of outputs.

/// A hash of 64-bit words: rotate, exclusive or, multiply, as in rustc's `FxHasher`.
///
/// Not FNV over bytes, which costs eight 64-bit products a word: a Cortex-M0 has no instruction for one. Each step is a
/// bijection of the state for a given word and of the word for a given state, so that one word that differs is always seen;
/// several are missed by a chance of 2^-64. It protects against nobody who means harm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hash(u64);

/// Odd, so that the product is a bijection; the constant of `FxHasher`, 2^64 / pi made odd.
const MULTIPLIER: u64 = 0x517c_c1b7_2722_0a95;

impl Hash {
    /// Of nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(0)
    }

    /// Adds a word. The sum of one makes a row of zeros count: 0 is a fixed point of the step.
    pub const fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(MULTIPLIER).wrapping_add(1);
    }

    /// Adds whether there is a value, and the value.
    pub const fn option(&mut self, value: Option<u64>) {
        match value {
            Some(value) => {
                self.word(1);
                self.word(value);
            }
            None => self.word(0),
        }
    }

    /// Adds a text: its length and its bytes, eight to a word, the last one filled with zeros.
    pub fn text(&mut self, text: &str) {
        self.word(u64::try_from(text.len()).unwrap_or(u64::MAX));
        for chunk in text.as_bytes().chunks(8) {
            let mut bytes = [0; 8];
            for (to, from) in bytes.iter_mut().zip(chunk) {
                *to = *from;
            }
            self.word(u64::from_le_bytes(bytes));
        }
    }

    /// The hash of what was added.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Default for Hash {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{Hash, MULTIPLIER};

    #[test]
    fn one_step_is_the_product_and_one() {
        // (rotl(0, 5) ^ 3) * K + 1 = 3 K + 1 modulo 2^64.
        let mut hash = Hash::new();
        hash.word(3);
        assert_eq!(hash.get(), MULTIPLIER.wrapping_mul(3).wrapping_add(1));
    }

    #[test]
    fn zeros_count_and_so_does_any_bit() {
        let of = |words: &[u64]| {
            let mut hash = Hash::new();
            words.iter().for_each(|word| hash.word(*word));
            hash.get()
        };
        assert_ne!(of(&[0]), of(&[0, 0]));
        for bit in 0..64 {
            assert_ne!(of(&[7, 0, 9]), of(&[7, 1 << bit, 9]), "bit {bit}");
        }
    }

    #[test]
    fn texts_with_the_same_bytes_in_other_pieces_differ() {
        let of = |texts: &[&str]| {
            let mut hash = Hash::new();
            texts.iter().for_each(|text| hash.text(text));
            hash.get()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["a"]), of(&["a\0"]));
        assert_ne!(of(&["cruising"]), of(&["crvising"]));
    }
}
