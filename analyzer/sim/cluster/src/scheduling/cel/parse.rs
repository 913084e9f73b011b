//! The tree of an expression: operators by precedence, with bounds on depth and size.

use super::lex::Token;
use super::value::Value;

/// Deepest nesting; selectors that people write stay below ten.
const DEEPEST: usize = 40;
/// Most nodes of a tree. It bounds how deep chains of operators make it, too.
const MOST: usize = 600;

#[derive(Debug, Clone)]
pub(super) enum Node {
    Literal(Value),
    List(Vec<Node>),
    Name(String),
    Field(Box<Node>, String),
    Index(Box<Node>, Box<Node>),
    /// A function, or with a first part a method.
    Call(Option<Box<Node>>, String, Vec<Node>),
    Not(Box<Node>),
    Negative(Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
    If(Box<Node>, Box<Node>, Box<Node>),
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    nodes: usize,
}

/// Builds the tree of a whole expression.
pub(super) fn parse(tokens: &[Token]) -> Result<Node, String> {
    let mut parser = Parser {
        tokens,
        at: 0,
        nodes: 0,
    };
    let root = parser.whole(0)?;
    if parser.at < tokens.len() {
        return Err("something stands after its end".into());
    }
    Ok(root)
}

/// How tightly an operator binds; the condition `? :` binds least and is handled apart.
fn binding(token: &Token) -> Option<(&'static str, u8)> {
    Some(match token {
        Token::Name(word) if word == "in" => ("in", 3),
        Token::Sign(sign) => match *sign {
            "||" => ("||", 1),
            "&&" => ("&&", 2),
            "==" | "!=" | "<" | "<=" | ">" | ">=" => (sign, 3),
            "+" | "-" => (sign, 4),
            "*" | "/" | "%" => (sign, 5),
            _ => return None,
        },
        _ => return None,
    })
}

impl Parser<'_> {
    fn whole(&mut self, depth: usize) -> Result<Node, String> {
        if depth > DEEPEST {
            return Err(format!("it is nested deeper than {DEEPEST}"));
        }
        let condition = self.operators(1, depth)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let then = self.operators(1, depth + 1)?;
        self.expect(":")?;
        let other = self.whole(depth + 1)?;
        self.node(Node::If(
            Box::new(condition),
            Box::new(then),
            Box::new(other),
        ))
    }

    fn operators(&mut self, least: u8, depth: usize) -> Result<Node, String> {
        let mut left = self.unary(depth)?;
        while let Some((sign, power)) = self.peek().and_then(binding) {
            if power < least {
                break;
            }
            self.at += 1;
            let right = self.operators(power + 1, depth + 1)?;
            left = self.node(Node::Binary(sign, Box::new(left), Box::new(right)))?;
        }
        Ok(left)
    }

    fn unary(&mut self, depth: usize) -> Result<Node, String> {
        if depth > DEEPEST {
            return Err(format!("it is nested deeper than {DEEPEST}"));
        }
        if self.take("!") {
            let inner = self.unary(depth + 1)?;
            return self.node(Node::Not(Box::new(inner)));
        }
        if self.take("-") {
            if let Some(Token::Int(number)) = self.peek() {
                let negative = Value::Int(number.wrapping_neg());
                self.at += 1;
                let literal = self.node(Node::Literal(negative))?;
                return self.members(literal, depth);
            }
            let inner = self.unary(depth + 1)?;
            return self.node(Node::Negative(Box::new(inner)));
        }
        let first = self.primary(depth)?;
        self.members(first, depth)
    }

    fn members(&mut self, mut value: Node, depth: usize) -> Result<Node, String> {
        loop {
            value = if self.take(".") {
                let name = self.name()?;
                if self.take("(") {
                    let arguments = self.list(")", depth)?;
                    Node::Call(Some(Box::new(value)), name, arguments)
                } else {
                    Node::Field(Box::new(value), name)
                }
            } else if self.take("[") {
                let key = self.whole(depth + 1)?;
                self.expect("]")?;
                Node::Index(Box::new(value), Box::new(key))
            } else {
                return Ok(value);
            };
            value = self.node(value)?;
        }
    }

    fn primary(&mut self, depth: usize) -> Result<Node, String> {
        if self.take("(") {
            let inner = self.whole(depth + 1)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.take("[") {
            let items = self.list("]", depth)?;
            return self.node(Node::List(items));
        }
        let token = self.peek().cloned().ok_or("it ends too early")?;
        self.at += 1;
        let node = match token {
            Token::Int(number) => Node::Literal(Value::Int(number)),
            Token::Text(text) => Node::Literal(Value::Text(text)),
            Token::Name(name) => match name.as_str() {
                "true" => Node::Literal(Value::Bool(true)),
                "false" => Node::Literal(Value::Bool(false)),
                "null" => Node::Literal(Value::Null),
                _ if self.take("(") => Node::Call(None, name, self.list(")", depth)?),
                _ => Node::Name(name),
            },
            Token::Sign(sign) => return Err(format!("{sign} stands where a value is expected")),
        };
        self.node(node)
    }

    /// Parts between commas up to a closing sign.
    fn list(&mut self, end: &str, depth: usize) -> Result<Vec<Node>, String> {
        let mut items = Vec::new();
        while !self.take(end) {
            if !items.is_empty() {
                self.expect(",")?;
                if self.take(end) {
                    break;
                }
            }
            items.push(self.whole(depth + 1)?);
        }
        Ok(items)
    }

    fn name(&mut self) -> Result<String, String> {
        match self.peek().cloned() {
            Some(Token::Name(name)) => {
                self.at += 1;
                Ok(name)
            }
            _ => Err("no name stands after a point".into()),
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn take(&mut self, sign: &str) -> bool {
        let there = matches!(self.peek(), Some(Token::Sign(own)) if *own == sign);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.take(sign) {
            Ok(())
        } else {
            Err(format!("{sign} is missing"))
        }
    }

    fn node(&mut self, node: Node) -> Result<Node, String> {
        self.nodes += 1;
        if self.nodes > MOST {
            return Err(format!("it has more than {MOST} parts"));
        }
        Ok(node)
    }
}
