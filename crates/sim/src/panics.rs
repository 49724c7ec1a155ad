//! Panics of tasks: a runtime swallows them, an oracle must not.

use std::{cell::RefCell, panic, sync::Once};

thread_local! {
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

static INSTALLED: Once = Once::new();

/// Begins to remember the panics of this thread.
pub(crate) fn forget() {
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            SEEN.with(|it| it.borrow_mut().push(info.to_string()));
            before(info);
        }));
    });
    SEEN.with(|it| it.borrow_mut().clear());
}

/// The panics of this thread since.
pub(crate) fn seen() -> Vec<String> {
    SEEN.with(|it| it.borrow().clone())
}
