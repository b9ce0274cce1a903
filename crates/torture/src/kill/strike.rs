//! The schedule of kills.

use std::io;
use std::path::Path;
use std::time::Duration;

use fastrand::Rng;

use super::{Drivers, Options, Signal};

/// The numbers of kills, by their time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strikes {
    /// During or directly after the start of the driver.
    pub starting: u32,
    /// Directly after an event.
    pub after: u32,
    /// At any time.
    pub anytime: u32,
    /// While it was stopped.
    pub stopped: u32,
    /// Drivers that were stopped for longer than their leases, and continued.
    pub paused: u32,
}

impl Strikes {
    /// All kills.
    pub fn kills(&self) -> u32 {
        self.starting + self.after + self.anytime + self.stopped
    }
}

/// Kills drivers until the number is reached.
pub(crate) async fn strike(options: &Options, drivers: &mut Drivers, rng: &mut Rng) -> io::Result<Strikes> {
    let mut strikes = Strikes::default();
    let ledger = options.ledger();
    // The first runs begin.
    tokio::time::sleep(Duration::from_millis(200)).await;
    while strikes.kills() < options.times {
        let driver = rng.usize(..drivers.count());
        match rng.u8(..20) {
            0..4 => {
                // This one is killed to start a new one, and its successor at once.
                drivers.kill(driver)?;
                strikes.anytime += 1;
                if strikes.kills() < options.times {
                    tokio::time::sleep(Duration::from_millis(rng.u64(0..25))).await;
                    drivers.kill(driver)?;
                    strikes.starting += 1;
                }
            }
            4..11 => {
                grown(&ledger).await;
                tokio::time::sleep(Duration::from_micros(rng.u64(0..8_000))).await;
                drivers.kill(driver)?;
                strikes.after += 1;
            }
            11..17 => {
                tokio::time::sleep(Duration::from_millis(rng.u64(1..250))).await;
                drivers.kill(driver)?;
                strikes.anytime += 1;
            }
            17 => {
                pause(options, drivers, driver, rng).await?;
                drivers.kill(driver)?;
                strikes.stopped += 1;
            }
            _ => {
                pause(options, drivers, driver, rng).await?;
                drivers.signal(driver, Signal::CONT)?;
                strikes.paused += 1;
                // Writes of the stopped driver in this time would be errors.
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    Ok(strikes)
}

/// Stops a driver directly after an event, for longer than its leases.
async fn pause(options: &Options, drivers: &Drivers, driver: usize, rng: &mut Rng) -> io::Result<()> {
    grown(&options.ledger()).await;
    tokio::time::sleep(Duration::from_micros(rng.u64(0..8_000))).await;
    drivers.signal(driver, Signal::STOP)?;
    tokio::time::sleep(options.lease.mul_f64(1.2 + rng.f64() / 2.0)).await;
    Ok(())
}

/// Waits for growth of the ledger; not for long, since there may be none.
async fn grown(ledger: &Path) {
    let length = || std::fs::metadata(ledger).map_or(0, |file| file.len());
    let before = length();
    for _ in 0..500 {
        if length() > before {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
