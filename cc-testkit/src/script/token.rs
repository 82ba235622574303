//! Cutting a line into words, numbers and signs.

use std::fmt;

const BILLION: u128 = 1_000_000_000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    Word(String),
    /// A number in billionths, so that times and sizes with decimals stay exact.
    Number(u128),
    Sign(&'static str),
}

/// Longer signs first.
const SIGNS: [&str; 18] =
    ["..", "==", "!=", "<=", ">=", "<", ">", "(", ")", ",", "+", "-", "*", "/", "=", "{", "}", "|"];

/// Most digits in front of the decimal point: what `u64` can hold, and a little more.
const MAX_DIGITS: usize = 20;

/// Cuts up a line; a comment ends it. The error says what was not understood.
pub(super) fn tokens(line: &str) -> Result<Vec<Token>, String> {
    let mut rest = line.split('#').next().unwrap_or("").trim_start();
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (token, left) = if first.is_ascii_digit() {
            number(rest)?
        } else if first.is_ascii_alphabetic() {
            word(rest)
        } else if let Some((sign, left)) =
            SIGNS.iter().find_map(|sign| rest.strip_prefix(sign).map(|left| (*sign, left)))
        {
            (Token::Sign(sign), left)
        } else {
            return Err(format!("expected a word, a number or a sign, found `{first}`"));
        };
        tokens.push(token);
        rest = left.trim_start();
    }
    Ok(tokens)
}

/// Letters, digits and underscores; a hyphen if a letter or digit follows without a space.
fn word(text: &str) -> (Token, &str) {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let joins = c == '-' && chars.peek().is_some_and(|(_, next)| next.is_ascii_alphanumeric());
        if !(c.is_ascii_alphanumeric() || c == '_' || joins) {
            break;
        }
        end = at + c.len_utf8();
    }
    let (word, rest) = text.split_at(end);
    (Token::Word(word.to_owned()), rest)
}

fn number(text: &str) -> Result<(Token, &str), String> {
    let (whole, mut rest) = digits(text);
    if whole.len() > MAX_DIGITS {
        return Err(format!("expected a number of at most {MAX_DIGITS} digits, found `{whole}`"));
    }
    let mut billionths = whole.parse::<u128>().unwrap_or(0) * BILLION;
    if let Some(after) = rest.strip_prefix('.').filter(|after| !after.starts_with('.')) {
        let (fraction, left) = digits(after);
        if fraction.is_empty() || fraction.len() > 9 {
            return Err(format!("expected one to nine digits after `{whole}.`"));
        }
        let padded = format!("{fraction:0<9}");
        billionths += padded.parse::<u128>().unwrap_or(0);
        rest = left;
    }
    Ok((Token::Number(billionths), rest))
}

/// Digits at the start, underscores left out.
fn digits(text: &str) -> (String, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    (digits.chars().filter(|c| *c != '_').collect(), rest)
}

/// `billionths` times `unit`, clamped to `u64`; `None` if it is not a whole number.
pub(super) fn whole(billionths: u128, unit: u64) -> Option<u64> {
    let product = billionths.saturating_mul(u128::from(unit));
    product.is_multiple_of(BILLION).then(|| u64::try_from(product / BILLION).unwrap_or(u64::MAX))
}

impl fmt::Display for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(formatter, "`{word}`"),
            Self::Number(billionths) if billionths.is_multiple_of(BILLION) => {
                write!(formatter, "`{}`", billionths / BILLION)
            }
            Self::Number(billionths) => {
                let fraction = format!("{:09}", billionths % BILLION);
                write!(formatter, "`{}.{}`", billionths / BILLION, fraction.trim_end_matches('0'))
            }
            Self::Sign(sign) => write!(formatter, "`{sign}`"),
        }
    }
}
