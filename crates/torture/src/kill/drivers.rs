//! The driver processes.

use std::fs::{File, OpenOptions};
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process};

use super::Options;
use crate::judge::Violation;

/// Running drivers. Dropping them kills them.
#[derive(Debug)]
pub struct Drivers {
    options: Options,
    running: Vec<Child>,
    started: u32,
    violations: Vec<Violation>,
}

/// The time limit of a drain.
const DRAINED: Duration = Duration::from_secs(10);

impl Drivers {
    /// Starts the requested number of drivers.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn start(options: &Options) -> io::Result<Drivers> {
        let mut drivers =
            Drivers { options: options.clone(), running: Vec::new(), started: 0, violations: Vec::new() };
        for _ in 0..options.drivers {
            let child = drivers.spawn()?;
            drivers.running.push(child);
        }
        Ok(drivers)
    }

    /// The number of drivers.
    pub fn count(&self) -> usize {
        self.running.len()
    }

    fn log(&self) -> io::Result<File> {
        OpenOptions::new().create(true).append(true).open(self.options.folder.join("drivers.log"))
    }

    fn spawn(&mut self) -> io::Result<Child> {
        self.started += 1;
        let Options { program, store, lease, apart, fault, kind, .. } = &self.options;
        let mut command = Command::new(program);
        command.arg("drive").arg(store).arg(self.options.ledger()).arg(format!("d{}", self.started));
        command.arg("--lease-ms").arg(lease.as_millis().to_string()).arg("--kind").arg(kind.name());
        if self.started.is_multiple_of(2) {
            command.arg("--ahead-ms").arg(apart.as_millis().to_string());
        }
        if let Some(fault) = fault {
            command.arg("--fault").arg(fault.name());
        }
        // A driver ends at the end of its standard input: none outlives its parent.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(self.log()?).spawn()
    }

    /// Kills a driver, and starts another one in its place.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn kill(&mut self, driver: usize) -> io::Result<()> {
        if let Some(status) = self.running[driver].try_wait()? {
            self.ended_by_itself(status);
        }
        self.running[driver].kill()?;
        self.running[driver].wait()?;
        self.running[driver] = self.spawn()?;
        Ok(())
    }

    /// Stops or continues a driver.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn signal(&self, driver: usize, signal: Signal) -> io::Result<()> {
        let pid = i32::try_from(self.running[driver].id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("a process has a number above 0"))?;
        Ok(kill_process(pid, signal)?)
    }

    fn ended_by_itself(&mut self, status: ExitStatus) {
        let what = format!("a driver ended by itself ({status}); drivers.log says why");
        self.violations.push(Violation::new("drivers", String::new(), what));
    }

    /// Stops all drivers, and waits for their ends. Returns the errors of each.
    pub async fn drain(mut self) -> Vec<Violation> {
        for driver in &mut self.running {
            drop(driver.stdin.take());
        }
        let mut left = DRAINED;
        let mut still = std::mem::take(&mut self.running);
        while !still.is_empty() && !left.is_zero() {
            for mut driver in std::mem::take(&mut still) {
                match driver.try_wait() {
                    Ok(Some(status)) if status.success() => {}
                    Ok(Some(status)) => self.ended_by_itself(status),
                    Ok(None) => still.push(driver),
                    Err(error) => self.violations.push(super::failed("drivers", error)),
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            left = left.saturating_sub(Duration::from_millis(20));
        }
        if !still.is_empty() {
            let what = format!("{} drivers did not stop when they were asked to", still.len());
            self.violations.push(Violation::new("drivers", String::new(), what));
        }
        self.running = still;
        std::mem::take(&mut self.violations)
    }
}

impl Drop for Drivers {
    fn drop(&mut self) {
        for driver in &mut self.running {
            // A driver that has ended cannot be killed, and is still waited for.
            driver.kill().ok();
            driver.wait().ok();
        }
    }
}
