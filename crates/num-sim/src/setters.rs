//! Setters for structs of settings that may get more fields.

/// Chainable setters: `setters!(Settings { with_tol: tol: f64 })`.
macro_rules! setters {
    ($settings:ident { $($with:ident: $field:ident: $type:ty),* $(,)? }) => {
        impl $settings {
            $(
                #[doc = concat!("With another [`", stringify!($field), "`](field@Self::", stringify!($field), ").")]
                #[must_use]
                pub fn $with(self, $field: $type) -> Self {
                    Self { $field, ..self }
                }
            )*
        }
    };
}

pub(crate) use setters;
