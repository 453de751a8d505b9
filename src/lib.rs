//! voxtick
