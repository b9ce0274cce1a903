//! How a server is set up.

/// How a server is set up: with room for two hundred connections, trusting everybody on loopback.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    pub(crate) settings: Vec<String>,
    pub(crate) files: Vec<(String, String)>,
    pub(crate) has_small_disk: bool,
}

impl Setup {
    /// As it comes.
    pub fn new() -> Self {
        Setup::default()
    }

    /// With a setting more, as `name=value`.
    #[must_use]
    pub fn setting(mut self, setting: impl Into<String>) -> Self {
        self.settings.push(setting.into());
        self
    }

    /// With a file in its folder, from which it is started: settings name it by its name, or by `../NAME` where they begin
    /// in the folder of its data. The user that runs the server owns it, and nobody else may read it.
    #[must_use]
    pub fn file(mut self, name: impl Into<String>, content: impl Into<String>) -> Self {
        self.files.push((name.into(), content.into()));
        self
    }

    /// With a disk of six megabytes in its folder `small`, which is gone with its processes.
    #[must_use]
    pub fn small_disk(mut self) -> Self {
        self.has_small_disk = true;
        self
    }
}
