//! Expressions over the state of a run: integers, in bytes, bytes per second, nanoseconds or plain numbers.

use std::fmt;

/// An expression. All arithmetic is on integers; a quotient is rounded down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expression {
    /// A number.
    Literal(u64),
    /// A quantity of the run (`cwnd`) or the name of a `let`.
    Name(String),
    /// `a + b` and so on.
    Binary(Box<Self>, Operator, Box<Self>),
    /// `min(a, b)` or `max(a, b)`.
    Extreme(Extreme, Box<Self>, Box<Self>),
}

/// An arithmetic operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Over,
}

/// The lesser or the greater.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extreme {
    /// `min`
    Min,
    /// `max`
    Max,
}

/// Where names get their values.
pub trait Scope {
    /// The value of a name; the error says why there is none.
    ///
    /// # Errors
    ///
    /// A line of text.
    fn value(&self, name: &str) -> Result<i128, String>;
}

impl Expression {
    /// The value now.
    ///
    /// # Errors
    ///
    /// A line of text: an unknown name, a division by zero, a number out of range.
    pub fn evaluate(&self, scope: &impl Scope) -> Result<i128, String> {
        let result = match self {
            Self::Literal(value) => Some(i128::from(*value)),
            Self::Name(name) => return scope.value(name),
            Self::Binary(left, operator, right) => {
                let (left, right) = (left.evaluate(scope)?, right.evaluate(scope)?);
                match operator {
                    Operator::Plus => left.checked_add(right),
                    Operator::Minus => left.checked_sub(right),
                    Operator::Times => left.checked_mul(right),
                    Operator::Over => left.checked_div(right),
                }
            }
            Self::Extreme(extreme, left, right) => {
                let (left, right) = (left.evaluate(scope)?, right.evaluate(scope)?);
                Some(match extreme {
                    Extreme::Min => left.min(right),
                    Extreme::Max => left.max(right),
                })
            }
        };
        result.ok_or_else(|| format!("`{self}` has no value"))
    }

    const fn binds_loosely(&self) -> bool {
        matches!(self, Self::Binary(_, Operator::Plus | Operator::Minus, _))
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(value) => write!(formatter, "{value}"),
            Self::Name(name) => formatter.write_str(name),
            Self::Extreme(Extreme::Min, left, right) => write!(formatter, "min({left}, {right})"),
            Self::Extreme(Extreme::Max, left, right) => write!(formatter, "max({left}, {right})"),
            Self::Binary(left, operator, right) => {
                let (sign, tight) = match operator {
                    Operator::Plus => ("+", false),
                    Operator::Minus => ("-", false),
                    Operator::Times => ("*", true),
                    Operator::Over => ("/", true),
                };
                operand(formatter, left, tight && left.binds_loosely())?;
                write!(formatter, " {sign} ")?;
                let brackets =
                    if tight { matches!(**right, Self::Binary(..)) } else { right.binds_loosely() };
                operand(formatter, right, brackets)
            }
        }
    }
}

fn operand(formatter: &mut fmt::Formatter<'_>, operand: &Expression, brackets: bool) -> fmt::Result {
    if brackets { write!(formatter, "({operand})") } else { write!(formatter, "{operand}") }
}
