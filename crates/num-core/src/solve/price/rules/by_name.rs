//! Price rules by name, from the list in `mod.rs`.

use crate::error::{Error, Result};
use crate::registry::options::Numbers;
use crate::registry::{Entry, OptionInfo, OptionRange};
use crate::solve::price::{PriceRule, Rule};
use crate::solve::takes::Takes;

/// From the kinds of rules: [`Rule`], its conversions, and [`BUILT_IN`]. Each kind has an `INFO`, with its name and
/// options, and is written in files by that name.
macro_rules! rules {
    ($($kind:ident($rule:ty),)*) => {
        /// A price rule, of the library or user-defined.
        #[derive(serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum Rule {
            $(
                #[doc = concat!("[`", stringify!($kind), "`].")]
                $kind($rule),
            )*
            /// A user-defined rule, which no file can hold.
            #[serde(skip)]
            User(Box<dyn RuleLoops>),
        }

        /// The rules of the library, the one to use first.
        pub(in crate::solve) const BUILT_IN: &[$crate::solve::price::RuleInfo] = &[$($kind::INFO,)*];

        $(
            impl From<$rule> for Rule {
                fn from(rule: $rule) -> Self {
                    Self::$kind(rule)
                }
            }
        )*

        impl Rule {
            /// The rule itself.
            #[inline]
            pub(in crate::solve) fn get(&self) -> &dyn RuleLoops {
                match self {
                    $(Self::$kind(rule) => rule,)*
                    Self::User(rule) => &**rule,
                }
            }

            pub(in crate::solve) fn get_mut(&mut self) -> &mut dyn RuleLoops {
                match self {
                    $(Self::$kind(rule) => rule,)*
                    Self::User(rule) => &mut **rule,
                }
            }

            /// The name of its method; `"user"` for a user-defined one.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $kind::INFO.name,)*
                    Self::User(_) => "user",
                }
            }

            /// A copy of the rule in its state, to be written down.
            ///
            /// # Errors
            /// [`Error::Unsupported`](crate::Error::Unsupported) for a user-defined rule.
            pub(in crate::solve) fn to_saved(&self) -> crate::Result<Self> {
                match self {
                    $(Self::$kind(rule) => Ok(Self::$kind(rule.clone())),)*
                    Self::User(_) => Err(crate::Error::Unsupported {
                        method: self.name().into(),
                        what: "a snapshot, which holds rules of the library only".into(),
                        instead: "keep its prices, and set them again",
                    }),
                }
            }
        }
    };
}

pub(super) use rules;

/// A rule's entry in the list.
pub(in crate::solve) type RuleInfo = Entry<RuleOf>;

/// What a rule takes, and how it is made.
#[derive(Debug, Clone, Copy)]
pub(in crate::solve) struct RuleOf {
    pub(in crate::solve) takes: Takes,
    pub(in crate::solve) make: MakeRule,
}

/// Makes a price rule from the values of its options.
pub(in crate::solve) type MakeRule = fn(&Numbers, &RuleSetup) -> Rule;

pub(in crate::solve) const fn gamma(default: f64, summary: &'static str) -> OptionInfo {
    OptionInfo::number("gamma", default, OptionRange::Positive, summary)
}

pub(in crate::solve) const DELAY: OptionInfo =
    OptionInfo::number("delay", 0.0, OptionRange::Switch, "1: prices reach flows an iteration late");

/// What a rule by name is made for.
pub(in crate::solve) struct RuleSetup {
    /// The α of all flows, for rules that are made for one.
    pub(in crate::solve) alpha: f64,
    /// The caller's price per rate in the units of the iteration: 1 where these are the caller's.
    pub(in crate::solve) price_per_rate: f64,
}

impl Rule {
    /// Whether a flow of this α is one for the rule.
    ///
    /// # Errors
    /// [`Error::Unsupported`] that names the flow, and the α that all must have.
    pub fn check_alpha(&self, flow: usize, alpha: f64) -> Result<()> {
        match self.get().common_alpha() {
            Some(common) if common != alpha => Err(Error::Unsupported {
                method: self.name().into(),
                what: format!("alpha {alpha} of flow {flow}, it is made for alpha {common} of all flows"),
                instead: "use \"fast-ned\", or a rule that is made for this alpha",
            }),
            _ => Ok(()),
        }
    }

    /// A user-defined rule.
    pub fn user(rule: impl PriceRule + 'static) -> Self {
        Self::User(Box::new(rule))
    }
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rule({})", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::price::BUILT_IN;

    #[test]
    fn a_rule_is_written_down_by_the_name_of_its_method() {
        for info in BUILT_IN {
            let rule = Rule::by_name(info.name, &Default::default(), 1.0).unwrap();
            let json = serde_json::to_string(&rule).unwrap();
            assert!(json.starts_with(&format!("{{{:?}:", info.name)), "{json}");
            let read: Rule = serde_json::from_str(&json).unwrap();
            assert_eq!((rule.name(), serde_json::to_string(&read).unwrap()), (info.name, json));
        }
    }

    #[test]
    fn a_name_of_no_rule_is_refused_with_the_names_that_there_are() {
        let refused = |name| Rule::by_name(name, &Default::default(), 1.0).unwrap_err().to_string();
        let names: Vec<String> = BUILT_IN.iter().map(|info| format!("{:?}", info.name)).collect();
        let (last, others) = names.split_last().unwrap();
        for known in ["newton", "auto"] {
            let expected = format!("method is {known:?}, expected {} or {last}", others.join(", "));
            assert_eq!(refused(known), expected);
        }
        let known: Vec<&str> = BUILT_IN.iter().map(|info| info.name).collect();
        let expected = format!("unknown method \"nde\", did you mean \"ned\"?; known: {}", known.join(", "));
        assert_eq!(refused("nde"), expected);
    }
}
