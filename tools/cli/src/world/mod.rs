//! `voxtick world`: inspects, draws and relights real worlds.

pub(crate) mod info;
pub(crate) mod map;
mod neighbourhood;
pub(crate) mod relight;
