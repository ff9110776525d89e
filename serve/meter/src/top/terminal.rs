//! The terminal: in raw mode and on its second screen while the view is shown, and as before afterwards.

use super::context;
use super::draw::SMALLEST;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{event, execute, terminal};
use std::io::{self, IsTerminal as _, Stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// True while the view is shown.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// A terminal for the view, which is restored when dropped.
pub(super) struct Screen(pub(super) Terminal<CrosstermBackend<Stdout>>);

/// Checks that a view can be shown.
///
/// # Errors
/// Standard output is no terminal, or the terminal is too small or has no keyboard.
pub(super) fn check() -> io::Result<()> {
    if !io::stdout().is_terminal() {
        let why = "--top needs a terminal, and standard output is not one; run it without `| …` and `> …`";
        return Err(io::Error::other(why));
    }
    let (width, height) = terminal::size().map_err(context("--top cannot read the size of the terminal"))?;
    if width < SMALLEST.0 || height < SMALLEST.1 {
        let (columns, rows) = SMALLEST;
        let why = format!(
            "--top needs a terminal of {columns} columns and {rows} rows, and this one has {width} and \
             {height}; enlarge it, or leave --top out"
        );
        return Err(io::Error::other(why));
    }
    event::poll(Duration::ZERO).map_err(context("--top cannot read keys from the terminal"))?;
    Ok(())
}

impl Screen {
    pub(super) fn open() -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                before(panic);
            }));
        });
        SHOWN.store(true, Ordering::SeqCst);
        let open = || {
            enable_raw_mode()?;
            execute!(io::stdout(), EnterAlternateScreen, Hide)?;
            Terminal::new(CrosstermBackend::new(io::stdout()))
        };
        open().map(Self).inspect_err(|_| restore()).map_err(context("--top cannot use the terminal"))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Tests if the view still has the terminal: after a panic it does not.
pub(super) fn is_shown() -> bool {
    SHOWN.load(Ordering::SeqCst)
}

/// Restores the terminal, from any thread; once.
pub fn restore() {
    if SHOWN.swap(false, Ordering::SeqCst) {
        // Without a terminal there is nothing to restore.
        let _ = disable_raw_mode();
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    }
}
