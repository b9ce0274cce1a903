//! Replies to external inputs.

use super::super::played::Replied;
use super::Board;

impl Board {
    pub(super) fn hear(&self, replies: Vec<(usize, Replied)>) {
        let now_ms = self.clock.now_ms();
        for (number, replied) in replies {
            let sent = {
                let mut inner = self.lock();
                let Some(sent) = inner.outside.sent.get_mut(number) else { continue };
                sent.replied = Some(replied);
                let sent = sent.clone();
                if let Some(awaited) = inner.outside.awaited.remove(&number) {
                    let is_gone = sent.replied.as_ref().is_some_and(|replied| replied.reply.is_none());
                    inner.go_on(awaited, is_gone, now_ms);
                }
                sent
            };
            // An accepted input was reported when it was accepted, with its event.
            if !sent.is_accepted() {
                self.tell(&sent);
            }
        }
    }

    pub(super) fn tell(&self, sent: &super::Sent) {
        if let Some(accepted) = &self.accepted {
            accepted(sent);
        }
    }
}
