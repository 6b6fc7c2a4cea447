//! Operators between expressions, by precedence climbing with C's precedences.

use super::ast::*;
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser};

/// How long a chain such as `a + b + c …` may be: it becomes a tree as deep.
pub(super) const MAX_CHAIN: usize = 1000;

impl Parser<'_> {
    pub fn assignment(&mut self) -> Parsed<Expr> {
        self.nested(|p| {
            let target = p.ternary()?;
            let Some((op, tokens)) = p.assignment_operator() else {
                return Ok(target);
            };
            (0..tokens).for_each(|_| {
                p.advance();
            });
            let value = if p.is("{") { p.initialiser()? } else { p.assignment()? };
            let span = target.span.to(value.span);
            Ok(Expr { kind: ExprKind::Assign(op, Box::new(target), Box::new(value)), span })
        })
    }

    /// The assignment operator that stands here, and of how many tokens it is made.
    fn assignment_operator(&self) -> Option<(Option<BinaryOp>, usize)> {
        if self.is(">") && self.adjacent(">", 1) && self.is_at(2, "=") && self.touching(1) {
            return Some((Some(BinaryOp::Shr), 3));
        }
        let TokenKind::Punct(p) = self.peek().kind else { return None };
        let op = match p {
            "=" => None,
            "+=" => Some(BinaryOp::Add),
            "-=" => Some(BinaryOp::Sub),
            "*=" => Some(BinaryOp::Mul),
            "/=" => Some(BinaryOp::Div),
            "%=" => Some(BinaryOp::Rem),
            "&=" => Some(BinaryOp::BitAnd),
            "|=" => Some(BinaryOp::BitOr),
            "^=" => Some(BinaryOp::BitXor),
            "<<=" => Some(BinaryOp::Shl),
            _ => return None,
        };
        Some((op, 1))
    }

    /// Whether the token `ahead` touches the one after it.
    pub(super) fn touching(&self, ahead: usize) -> bool {
        self.peek_at(ahead).span.end == self.peek_at(ahead + 1).span.start
    }

    fn adjacent(&self, punct: &str, ahead: usize) -> bool {
        self.is_at(ahead, punct) && self.touching(ahead - 1)
    }

    pub(super) fn ternary(&mut self) -> Parsed<Expr> {
        let condition = self.binary(0)?;
        if !self.eat("?") {
            return Ok(condition);
        }
        self.nested(|p| {
            let then = p.expression()?;
            p.expect(":", "between the two values of `?`")?;
            let otherwise = p.assignment()?;
            let span = condition.span.to(otherwise.span);
            Ok(Expr { kind: ExprKind::Ternary(Box::new(condition), Box::new(then), Box::new(otherwise)), span })
        })
    }

    fn binary(&mut self, minimum: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        let mut chain = 0;
        while let Some((op, precedence, tokens)) = self.binary_operator()
            && precedence >= minimum
        {
            chain += 1;
            if chain > MAX_CHAIN {
                let span = self.peek().span;
                return self.error(
                    span,
                    format!("more than {MAX_CHAIN} operators in a row"),
                    "split the expression with variables",
                );
            }
            let start = self.peek().span;
            (0..tokens).for_each(|_| {
                self.advance();
            });
            let power = op == BinaryOp::Mul && self.is("*") && start.end == self.peek().span.start;
            if power {
                self.refuse_power(start);
            }
            let right = self.nested(|p| p.binary(precedence + 1))?;
            if power {
                left = self.not_understood();
                continue;
            }
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    /// The binary operator that stands here, its precedence, and of how many tokens it is made.
    fn binary_operator(&self) -> Option<(BinaryOp, u8, usize)> {
        use BinaryOp::*;
        let TokenKind::Punct(p) = self.peek().kind else { return None };
        if self.at_metadata() || self.at_metadata_end() {
            return None;
        }
        let (op, precedence) = match p {
            "||" => (Or, 1),
            "&&" => (And, 2),
            "|" => (BitOr, 3),
            "^" => (BitXor, 4),
            "&" => (BitAnd, 5),
            "==" => (Eq, 6),
            "!=" => (Ne, 6),
            "<" => (Lt, 7),
            "<=" => (Le, 7),
            ">" if self.adjacent(">", 1) => {
                let assignment = self.is_at(2, "=") && self.touching(1);
                return (!assignment).then_some((Shr, 8, 2));
            }
            ">" if self.adjacent("=", 1) => return Some((Ge, 7, 2)),
            ">" if self.adjacent("==", 1) => return None,
            ">" => (Gt, 7),
            "<<" => (Shl, 8),
            "+" => (Add, 9),
            "-" => (Sub, 9),
            "*" => (Mul, 10),
            "/" => (Div, 10),
            "%" => (Rem, 10),
            _ => return None,
        };
        Some((op, precedence, 1))
    }
}
