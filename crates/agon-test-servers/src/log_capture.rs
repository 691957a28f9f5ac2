//! The log of a test's own process, to be searched.

use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Everything that this process logs from the first call of [`CapturedLog::start`] on, as JSON lines. All tests of a program share it, so a
/// test looks for an id or a key of its own.
#[derive(Clone, Debug, Default)]
pub struct CapturedLog(Arc<Mutex<Vec<u8>>>);

impl CapturedLog {
    /// Starts to capture, or returns the log that is captured already.
    pub fn start() -> Self {
        static LOG: OnceLock<CapturedLog> = OnceLock::new();
        let log = LOG.get_or_init(|| {
            let log = Self::default();
            let subscriber = tracing_subscriber::fmt()
                .json()
                .flatten_event(true)
                .with_current_span(false)
                .with_max_level(LevelFilter::DEBUG)
                .with_writer(log.clone())
                .finish();
            // Fails only if the test has a log already; then nothing is captured and the test fails.
            let _ = tracing::subscriber::set_global_default(subscriber);
            log
        });
        log.clone()
    }

    /// The lines that contain this text.
    pub fn lines_with(&self, text: &str) -> Vec<String> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let all = String::from_utf8_lossy(&bytes);
        all.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }
}

impl io::Write for CapturedLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for CapturedLog {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}
