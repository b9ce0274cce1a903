//! A lifecycle is as visible as its definition says, and so are its states, events and machines.
#![allow(dead_code)]

macro_rules! door {
    ($($vis:tt)*) => {
        runstate::lifecycle! {
            /// A door.
            $($vis)* mod door: Door(House), AnyDoor;
            version 1;
            diagram "../door.md";
            status DoorStatus { Open, Shut, Locked, Bricked }
            event DoorEvent { Close, Push, Lock, Unlock, BrickUp }
            [*]     --> Open;
            Open    --> Shut    : close(Close);
            Shut    --> Open    : push(Push);
            Shut    --> Locked  : lock(Lock);
            Locked  --> Shut    : unlock(Unlock);
            Shut    --> Bricked : brick_up(BrickUp);
            Bricked --> [*];
        }

        #[derive(Debug)]
        $($vis)* struct House;
        impl runstate::kernel::Record for House {}
    };
}

pub mod public {
    door!(pub);
}
mod of_the_crate {
    door!(pub(crate));
}
mod of_the_parent {
    door!(pub(super));
}
mod private {
    door!();
    pub(super) fn is_terminal() -> bool {
        AnyDoor::from(Door::new(House).close(Close)).status().is_terminal()
    }
}

pub fn all() -> [bool; 4] {
    [
        public::AnyDoor::new(public::House).status().is_terminal(),
        of_the_crate::AnyDoor::new(of_the_crate::House).status().is_terminal(),
        of_the_parent::AnyDoor::new(of_the_parent::House).status().is_terminal(),
        private::is_terminal(),
    ]
}
