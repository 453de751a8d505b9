//! `voxtick world`: looks after real worlds.

pub(crate) mod info;
pub(crate) mod map;
mod neighbourhood;
pub(crate) mod relight;
pub(crate) mod repair;
pub(crate) mod transfer;
pub(crate) mod verify;
