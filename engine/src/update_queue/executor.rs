//! What an update worker does with its updates.

use super::Update;

/// Deals with the updates of an [`UpdateWorker`](super::UpdateWorker), on its thread.
///
/// Every function `FnMut(Update<T>) -> Result<(), Update<T>>` is an executor.
pub trait UpdateExecutor<T>: Send {
    /// Deals with an update, or hands it to whoever does.
    ///
    /// # Errors
    /// Not now: the update is given back and put back into the queue; the worker pauses before it
    /// offers another, longer from refusal to refusal.
    fn execute(&mut self, update: Update<T>) -> Result<(), Update<T>>;

    /// Looks after what it holds, every so often if the worker's settings say so.
    fn maintain(&mut self) {}
}

impl<T, F: FnMut(Update<T>) -> Result<(), Update<T>> + Send> UpdateExecutor<T> for F {
    fn execute(&mut self, update: Update<T>) -> Result<(), Update<T>> {
        self(update)
    }
}
