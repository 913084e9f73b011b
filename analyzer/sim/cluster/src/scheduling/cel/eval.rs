//! The value of an expression for one device.

use super::Stop;
use super::functions;
use super::operators;
use super::parse::Node;
use super::value::Value;

/// Steps for one device; macros over lists are what takes many.
const STEPS: usize = 20_000;

/// What an expression is evaluated in.
pub(super) struct Scope<'a> {
    device: &'a Value,
    /// Names that macros bind, the innermost last.
    bound: Vec<(String, Value)>,
    left: usize,
}

/// The value of an expression.
pub(super) fn evaluate(root: &Node, device: &Value) -> Result<Value, Stop> {
    let mut scope = Scope {
        device,
        bound: Vec::new(),
        left: STEPS,
    };
    scope.value(root)
}

pub(super) fn open<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Open(why.into()))
}

impl Scope<'_> {
    /// The value of a part.
    pub(super) fn value(&mut self, node: &Node) -> Result<Value, Stop> {
        let Some(left) = self.left.checked_sub(1) else {
            return open("it takes too many steps");
        };
        self.left = left;
        match node {
            Node::Literal(value) => Ok(value.clone()),
            Node::List(items) => {
                let values: Result<Vec<Value>, Stop> =
                    items.iter().map(|item| self.value(item)).collect();
                Ok(Value::list(values?))
            }
            Node::Name(name) => self.named(name),
            Node::Field(of, name) => {
                let of = self.value(of)?;
                member(&of, name)
            }
            Node::Index(of, key) => {
                let of = self.value(of)?;
                match (&of, self.value(key)?) {
                    (Value::List(items), Value::Int(number)) => item(items, number),
                    (_, Value::Text(key)) => member(&of, &key),
                    _ => open("an index of another kind"),
                }
            }
            Node::Call(of, name, arguments) => self.call(of.as_deref(), name, arguments),
            Node::Not(inner) => match self.value(inner)? {
                Value::Bool(answer) => Ok(Value::Bool(!answer)),
                _ => open("! before what is no truth value"),
            },
            Node::Negative(inner) => match self.value(inner)? {
                Value::Int(number) => number
                    .checked_neg()
                    .map(Value::Int)
                    .ok_or_else(operators::overflow),
                _ => open("- before what is no whole number"),
            },
            Node::Binary(sign, left, right) => self.binary(sign, left, right),
            Node::If(condition, then, other) => match self.value(condition)? {
                Value::Bool(true) => self.value(then),
                Value::Bool(false) => self.value(other),
                _ => open("a condition that is no truth value"),
            },
        }
    }

    fn named(&self, name: &str) -> Result<Value, Stop> {
        let mut bound = self.bound.iter().rev();
        if let Some((_, value)) = bound.find(|(own, _)| own == name) {
            return Ok(value.clone());
        }
        if name == "device" {
            return Ok(self.device.clone());
        }
        open(format!("the name {name} is not known"))
    }

    /// `&&` and `||` give an answer where one side decides, whatever becomes of the other.
    fn binary(&mut self, sign: &'static str, left: &Node, right: &Node) -> Result<Value, Stop> {
        let decides = match sign {
            "&&" => false,
            "||" => true,
            _ => {
                let left = self.value(left)?;
                return operators::apply(sign, &left, &self.value(right)?);
            }
        };
        let left = self.truth(left);
        if left == Ok(decides) {
            return Ok(Value::Bool(decides));
        }
        match (left, self.truth(right)) {
            (_, Ok(right)) if right == decides => Ok(Value::Bool(decides)),
            (Ok(_), right) => right.map(Value::Bool),
            (Err(Stop::Error(_)), Err(stop @ Stop::Open(_))) | (Err(stop), _) => Err(stop),
        }
    }

    fn truth(&mut self, node: &Node) -> Result<bool, Stop> {
        match self.value(node)? {
            Value::Bool(answer) => Ok(answer),
            _ => open("a side of && or || that is no truth value"),
        }
    }

    fn call(&mut self, of: Option<&Node>, name: &str, arguments: &[Node]) -> Result<Value, Stop> {
        match (of, name, arguments) {
            (None, "has", [Node::Field(of, field)]) => {
                let of = self.value(of)?;
                return has(&of, field).map(Value::Bool);
            }
            (Some(Node::Name(cel)), "bind", [Node::Name(name), value, body]) if cel == "cel" => {
                let value = self.value(value)?;
                return self.with(name, value, |scope| scope.value(body));
            }
            (Some(list), "all" | "exists", [Node::Name(each), body]) => {
                return self.each(list, each, body, name == "exists");
            }
            (Some(list), "exists_one" | "existsOne", [Node::Name(each), body]) => {
                return self.exactly_one(list, each, body);
            }
            _ => {}
        }
        let of = of.map(|of| self.value(of)).transpose()?;
        let values: Result<Vec<Value>, Stop> =
            arguments.iter().map(|one| self.value(one)).collect();
        functions::call(of.as_ref(), name, &values?)
    }

    /// Whether a body holds for one, or for all, of a list. Like `||` and `&&`, one item can decide.
    fn each(&mut self, list: &Node, name: &str, body: &Node, decides: bool) -> Result<Value, Stop> {
        let mut stopped = None;
        for item in self.items(list)? {
            match self.with(name, item, |scope| scope.truth(body)) {
                Ok(answer) if answer == decides => return Ok(Value::Bool(decides)),
                Ok(_) => {}
                Err(stop) => {
                    if !matches!(stopped, Some(Stop::Open(_))) {
                        stopped = Some(stop);
                    }
                }
            }
        }
        stopped.map_or(Ok(Value::Bool(!decides)), Err)
    }

    /// Whether a body holds for exactly one of a list. No item decides, so every error counts.
    fn exactly_one(&mut self, list: &Node, name: &str, body: &Node) -> Result<Value, Stop> {
        let mut holds = 0;
        for item in self.items(list)? {
            holds += usize::from(self.with(name, item, |scope| scope.truth(body))?);
        }
        Ok(Value::Bool(holds == 1))
    }

    /// What a macro goes through: the items of a list, the keys of a map.
    fn items(&mut self, list: &Node) -> Result<Vec<Value>, Stop> {
        match self.value(list)? {
            Value::List(items) => Ok(items.as_ref().clone()),
            Value::Map(map) | Value::Domains(map) => {
                Ok(map.keys().cloned().map(Value::Text).collect())
            }
            _ => Err(Stop::Error("a macro over what is no list".into())),
        }
    }

    fn with<T>(&mut self, name: &str, value: Value, then: impl FnOnce(&mut Self) -> T) -> T {
        self.bound.push((name.to_owned(), value));
        let result = then(self);
        self.bound.pop();
        result
    }
}

fn item(items: &[Value], number: i64) -> Result<Value, Stop> {
    let found = usize::try_from(number).ok().and_then(|at| items.get(at));
    found
        .cloned()
        .ok_or_else(|| Stop::Error(format!("index out of bounds: {number}")))
}

fn member(of: &Value, name: &str) -> Result<Value, Stop> {
    match of {
        Value::Map(map) => map
            .get(name)
            .cloned()
            .ok_or_else(|| Stop::Error(format!("no such key: {name}"))),
        Value::Domains(domains) => Ok(domains
            .get(name)
            .cloned()
            .unwrap_or_else(|| Value::Map(std::sync::Arc::default()))),
        _ => open(format!("{name} of what has no members")),
    }
}

fn has(of: &Value, name: &str) -> Result<bool, Stop> {
    match of {
        Value::Map(map) => Ok(map.contains_key(name)),
        // The scheduler's map finds every domain.
        Value::Domains(_) => Ok(true),
        _ => open("has() of what has no members"),
    }
}
