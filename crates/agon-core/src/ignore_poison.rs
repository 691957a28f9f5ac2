//! Locks whose data stays usable after a panic of another thread.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Locks a mutex, even if a thread panicked while it held the lock. For data that is consistent after every single change.
pub trait LockIgnoringPoison<T: ?Sized> {
    /// Locks the mutex.
    fn lock_ignoring_poison(&self) -> MutexGuard<'_, T>;
}

impl<T: ?Sized> LockIgnoringPoison<T> for Mutex<T> {
    fn lock_ignoring_poison(&self) -> MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Locks a read-write lock, even if a thread panicked while it held the lock. For data that is consistent after every single change.
pub trait RwLockIgnoringPoison<T: ?Sized> {
    /// Locks it for reading.
    fn read_ignoring_poison(&self) -> RwLockReadGuard<'_, T>;
    /// Locks it for writing.
    fn write_ignoring_poison(&self) -> RwLockWriteGuard<'_, T>;
}

impl<T: ?Sized> RwLockIgnoringPoison<T> for RwLock<T> {
    fn read_ignoring_poison(&self) -> RwLockReadGuard<'_, T> {
        self.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_ignoring_poison(&self) -> RwLockWriteGuard<'_, T> {
        self.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use super::*;

    #[test]
    fn lock_held_during_a_panic_is_still_usable() {
        let (mutex, lock) = (Mutex::new(1), RwLock::new(1));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _held = (mutex.lock(), lock.write());
            resume_unwind(Box::new("on purpose"));
        }));
        assert!(panicked.is_err() && mutex.is_poisoned() && lock.is_poisoned());
        *mutex.lock_ignoring_poison() += 1;
        *lock.write_ignoring_poison() += 1;
        assert_eq!((*mutex.lock_ignoring_poison(), *lock.read_ignoring_poison()), (2, 2));
    }
}
