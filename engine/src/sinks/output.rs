//! A buffered file or pipe that says its name when it fails.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::SinkError;

/// Where a sink writes its bytes.
pub(super) struct Output {
    name: String,
    writer: BufWriter<Box<dyn Write + Send>>,
    flushed: Instant,
}

/// How old written lines may get before a reader of the file sees them.
const FLUSH_AFTER: Duration = Duration::from_secs(1);

impl Output {
    /// Creates a file, in place of one that is there.
    pub(super) fn create(path: &Path) -> Result<Output, SinkError> {
        match File::create(path) {
            Ok(file) => Ok(Output::new(path.display().to_string(), file)),
            Err(reason) => Err(SinkError::Create { path: path.to_owned(), reason }),
        }
    }

    pub(super) fn new(name: String, writer: impl Write + Send + 'static) -> Output {
        Output { name, writer: BufWriter::with_capacity(1 << 16, Box::new(writer)), flushed: Instant::now() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Lets `write` write, and brings the bytes to their place once in a while.
    pub(super) fn write(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), SinkError> {
        let outcome = write(&mut self.writer);
        self.check(outcome)?;
        if self.flushed.elapsed() >= FLUSH_AFTER { self.flush() } else { Ok(()) }
    }

    /// Brings all bytes to their place.
    pub(super) fn flush(&mut self) -> Result<(), SinkError> {
        let outcome = self.writer.flush();
        self.flushed = Instant::now();
        self.check(outcome)
    }

    fn check(&self, outcome: io::Result<()>) -> Result<(), SinkError> {
        outcome.map_err(|reason| SinkError::Write { target: self.name.clone(), reason })
    }
}
