//! Small pieces of text output, the same on every machine: integer arithmetic, one line each.

use std::fmt;

/// Microseconds as milliseconds with three decimals, such as `4460.200`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Millis(
    /// Microseconds.
    pub u64,
);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{:03}", self.0 / 1_000, self.0 % 1_000))
    }
}

/// A count of `1/scale` units as a decimal number without trailing zeros: 600 123 at 1000 is `600.123`.
pub(crate) fn decimal(value: u64, scale: u64) -> String {
    let scale = scale.max(1);
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return whole.to_string();
    }
    let width = scale.ilog10() as usize;
    let fraction = format!("{rest:0width$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

/// Whether `c` does something else than stand there: control characters, line separators, and the marks that change the
/// direction of the text around them (Unicode standard annex 9, section 2) or are not seen at all.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
}

/// `text` on one line: runs of white space become one blank, other characters that are not seen their escapes.
///
/// For messages that quote what somebody else wrote: a name with a line break or a terminal escape in it cannot
/// make them more than one line.
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        for c in word.chars() {
            if is_hidden(c) { line.extend(c.escape_unicode()) } else { line.push(c) }
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{Millis, decimal, one_line};

    #[test]
    fn milliseconds_have_three_decimals_and_can_be_padded() {
        assert_eq!(Millis(4_460_200).to_string(), "4460.200");
        assert_eq!(format!("{:>9}|{:<6}|", Millis(7), Millis(0)), "    0.007|0.000 |");
    }

    #[test]
    fn decimals_are_as_short_as_they_can_be() {
        assert_eq!(decimal(600_123, 1_000), "600.123");
        assert_eq!(decimal(1_500, 1_000), "1.5");
        assert_eq!(decimal(60_000_000, 1_000), "60000");
        assert_eq!(decimal(1, 1_000_000), "0.000001");
        assert_eq!(decimal(12, 1), "12");
    }

    #[test]
    fn a_message_is_one_line_whatever_it_quotes() {
        assert_eq!(one_line("a\n  b\u{1b}[2J\tc "), "a b\\u{1b}[2J c");
        // Right-to-left override and its end.
        assert_eq!(one_line("a\u{202e}lmot.\u{202c}b"), "a\\u{202e}lmot.\\u{202c}b");
    }
}
