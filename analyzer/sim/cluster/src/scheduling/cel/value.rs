//! Values that an expression works on.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::scheduling::quantity::Quantity;

/// Attributes by name, of one domain.
pub type Attributes = BTreeMap<String, Value>;

/// A semantic version.
pub type Version = semver::Version;

/// A value. Lists and maps are shared, so that naming a device copies nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// Truth value.
    Bool(bool),
    /// Whole number.
    Int(i64),
    /// Text.
    Text(String),
    /// List.
    List(Arc<Vec<Value>>),
    /// Map by text.
    Map(Arc<Attributes>),
    /// Attributes or capacities by domain. A domain that is not there is an empty map.
    Domains(Arc<BTreeMap<String, Value>>),
    /// Quantity.
    Quantity(Quantity),
    /// Version.
    Version(Version),
}

impl Value {
    /// A list.
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(Arc::new(items))
    }

    /// What the variable `device` is: driver, whether several claims can have it at once, attributes by domain,
    /// capacities by domain.
    pub fn device(
        driver: &str,
        shared: bool,
        attributes: BTreeMap<String, Attributes>,
        capacity: BTreeMap<String, Attributes>,
    ) -> Self {
        let domains = |all: BTreeMap<String, Attributes>| {
            let maps = all.into_iter();
            Self::Domains(Arc::new(
                maps.map(|(domain, own)| (domain, Self::Map(Arc::new(own))))
                    .collect(),
            ))
        };
        Self::Map(Arc::new(
            [
                ("driver".to_owned(), Self::Text(driver.to_owned())),
                ("allowMultipleAllocations".to_owned(), Self::Bool(shared)),
                ("attributes".to_owned(), domains(attributes)),
                ("capacity".to_owned(), domains(capacity)),
            ]
            .into(),
        ))
    }
}
