include!("../door.rs");

impl Door<Open> {
    #[cfg(illegal)]
    pub fn bricked_up(self) -> Door<Bricked> {
        self.brick_up(BrickUp)
    }

    #[cfg(not(illegal))]
    pub fn bricked_up(self) -> Door<Bricked> {
        self.close(Close).brick_up(BrickUp)
    }
}
