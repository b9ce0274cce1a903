//! The settings of a server.

/// The settings of a server: two hundred connections, and trust for every user on loopback.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    pub(crate) settings: Vec<String>,
    pub(crate) files: Vec<(String, String)>,
    pub(crate) has_small_disk: bool,
}

impl Setup {
    /// The default settings.
    pub fn new() -> Self {
        Setup::default()
    }

    /// Adds a setting, as `name=value`.
    #[must_use]
    pub fn setting(mut self, setting: impl Into<String>) -> Self {
        self.settings.push(setting.into());
        self
    }

    /// Adds a file in the start folder of the server: settings name it by its name, or by `../NAME` if they are relative to
    /// the folder of its data. The user of the server owns it, and no other user may read it.
    #[must_use]
    pub fn file(mut self, name: impl Into<String>, content: impl Into<String>) -> Self {
        self.files.push((name.into(), content.into()));
        self
    }

    /// Adds a disk of six megabytes in its folder `small`, which ends with its processes.
    #[must_use]
    pub fn small_disk(mut self) -> Self {
        self.has_small_disk = true;
        self
    }
}
