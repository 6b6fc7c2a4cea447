//! Why shaders ended lanes early, kept so that who is told depends on no thread.

use ssl_compiler::runtime::LaneError;
use std::sync::{Mutex, PoisonError};

/// The errors that lanes ended with, of which the first in the order of their kinds is told.
#[derive(Debug, Default)]
pub struct LaneErrors(Mutex<Option<LaneError>>);

impl LaneErrors {
    pub fn add(&self, error: LaneError) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *first = Some(first.map_or(error, |known| known.min(error)));
    }

    pub fn first(&self) -> Option<LaneError> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_in_which_errors_come_does_not_matter() {
        for order in [[LaneError::TapeFull, LaneError::OutOfFuel], [LaneError::OutOfFuel, LaneError::TapeFull]] {
            let errors = LaneErrors::default();
            assert_eq!(errors.first(), None);
            order.into_iter().for_each(|error| errors.add(error));
            assert_eq!(errors.first(), Some(LaneError::OutOfFuel));
        }
    }
}
