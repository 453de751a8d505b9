//! `voxtick world`: inspects and draws real worlds.

pub(crate) mod info;
pub(crate) mod map;
