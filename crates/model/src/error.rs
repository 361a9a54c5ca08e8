//! What the model refuses.

/// Input outside the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The growth of slow start is outside the model.
    #[error("d = {found} packets per packet of growth; accepted: 1 to {most}")]
    Aggressiveness {
        /// What was asked for.
        found: String,
        /// The largest d.
        most: u32,
    },
    /// A quantity that must be positive is zero.
    #[error("{key} is zero; accepted: more than zero")]
    Zero {
        /// The name of the quantity.
        key: &'static str,
    },
}
