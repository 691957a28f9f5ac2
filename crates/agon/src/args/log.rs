//! Arguments about the log.

use clap::{Args, ValueEnum};

/// Options about the log, of every command.
#[derive(Args, Debug)]
pub struct LogOptions {
    /// What to log to stderr: off, error, warn, info, debug, trace, or PART=LEVEL,... [default: `AGON_LOG`]
    #[arg(long, global = true, value_name = "FILTER", help_heading = "Log")]
    pub log: Option<String>,
    /// Format of the log and of all messages on stderr [default: `AGON_LOG_FORMAT`, else text]
    #[arg(long, global = true, value_name = "FORMAT", help_heading = "Log", value_enum)]
    pub log_format: Option<LogFormat>,
}

/// Format of the log.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogFormat {
    /// Lines of text.
    Text,
    /// One JSON object a line.
    Json,
}
