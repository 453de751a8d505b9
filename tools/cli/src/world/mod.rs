//! `voxtick world`: inspects real worlds.

pub(crate) mod info;
