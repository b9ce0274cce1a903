//! The way decisions take to a run.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};

use super::{Incoming, PendingCall, Reply};

/// Batches on their way to a run. More wait at their senders.
const BATCHES: usize = 64;

/// A decision and who wants to know what became of it.
#[derive(Debug)]
pub(in crate::agent) struct Envelope {
    pub(in crate::agent) incoming: Incoming,
    reply: Option<oneshot::Sender<Reply>>,
    is_posted: bool,
}

impl Envelope {
    /// One that nobody asks about: the runtime's own, or one that was answered before.
    pub(in crate::agent) fn unasked(incoming: Incoming) -> Self {
        Envelope { incoming, reply: None, is_posted: false }
    }

    /// One that a store has accepted.
    fn posted(incoming: Incoming) -> Self {
        Envelope { is_posted: true, ..Envelope::unasked(incoming) }
    }

    /// Has a store accepted it? Then it counts, however late it is taken.
    pub(in crate::agent) fn is_posted(&self) -> bool {
        self.is_posted
    }

    pub(in crate::agent) fn answer(self, reply: Reply) {
        if let Some(asker) = self.reply {
            // Who asked may have stopped waiting; that changes nothing.
            asker.send(reply).ok();
        }
    }
}

/// What comes in through the handle.
#[derive(Debug)]
enum Inbound {
    /// Decisions that were sent together.
    Decisions(Vec<Envelope>),
    /// The user wrote.
    Message(Arc<str>, oneshot::Sender<bool>),
}

/// Gives decisions to a run, and lists what waits for them. Any number of tasks may hold one.
///
/// ```
/// use runstate::agent::{Incoming, inbox};
/// use runstate::decision::DecisionAction;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let (handle, inbox) = inbox();
/// assert!(handle.pending().is_empty());
///
/// // Without a run that takes them, decisions have nowhere to go.
/// drop(inbox);
/// let error = handle.decide(Incoming::new("d-1", "call_1", DecisionAction::Resume)).await.unwrap_err();
/// assert!(error.to_string().starts_with("the run that took decisions here is gone; read its stored state"), "{error}");
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DecisionHandle {
    inbound: mpsc::Sender<Inbound>,
    pending: watch::Receiver<Arc<[PendingCall]>>,
}

/// Where a run takes decisions from. It outlives activations: what comes in while none runs is taken by the next.
#[derive(Debug)]
pub struct Inbox {
    inbound: mpsc::Receiver<Inbound>,
    waiting: VecDeque<Envelope>,
    message: Option<(Arc<str>, oneshot::Sender<bool>)>,
    pending: watch::Sender<Arc<[PendingCall]>>,
}

/// A way for decisions, and its two ends.
pub fn inbox() -> (DecisionHandle, Inbox) {
    let (inbound_in, inbound) = mpsc::channel(BATCHES);
    let (pending, pending_out) = watch::channel(Arc::from([]));
    let handle = DecisionHandle { inbound: inbound_in, pending: pending_out };
    (handle, Inbox { inbound, waiting: VecDeque::new(), message: None, pending })
}

impl DecisionHandle {
    /// Gives one decision, and waits for what becomes of it. While no activation runs that is until the next one does.
    ///
    /// # Errors
    /// [`RunGone`] when nobody takes decisions any more. Whether this one was accepted is then what the run's stored
    /// state says; given again it is [`Reply::Duplicate`] if it was.
    ///
    /// # Cancel safety
    /// Dropped before the first wait is over, the decision is not given; after that it is, and only the reply is lost.
    pub async fn decide(&self, incoming: Incoming) -> Result<Reply, RunGone> {
        let mut replies = self.send(vec![incoming]).await?;
        match replies.pop() {
            Some(reply) => reply.await.map_err(|_| RunGone),
            None => Err(RunGone),
        }
    }

    /// Gives several decisions at once, which are taken in together, in order.
    ///
    /// # Errors
    /// As [`decide`](Self::decide).
    ///
    /// # Cancel safety
    /// As [`decide`](Self::decide).
    pub async fn decide_all(&self, batch: Vec<Incoming>) -> Result<Vec<Reply>, RunGone> {
        let mut replies = Vec::with_capacity(batch.len());
        for reply in self.send(batch).await? {
            replies.push(reply.await.map_err(|_| RunGone)?);
        }
        Ok(replies)
    }

    async fn send(&self, batch: Vec<Incoming>) -> Result<Vec<oneshot::Receiver<Reply>>, RunGone> {
        let (envelopes, replies) = batch
            .into_iter()
            .map(|incoming| {
                let (asker, reply) = oneshot::channel();
                (Envelope { reply: Some(asker), ..Envelope::unasked(incoming) }, reply)
            })
            .unzip();
        self.inbound.send(Inbound::Decisions(envelopes)).await.map_err(|_| RunGone)?;
        Ok(replies)
    }

    /// Gives decisions that a store has accepted (the design's "Decisions"). They came in time and fit what was asked for, so
    /// they count before anything lapses, however late they are taken; nobody asks what becomes of them.
    ///
    /// # Errors
    /// As [`decide`](Self::decide).
    ///
    /// # Cancel safety
    /// Dropped before it is over, none is given. A run that is read anew may be given them again.
    pub async fn post(&self, batch: Vec<Incoming>) -> Result<(), RunGone> {
        let envelopes = batch.into_iter().map(Envelope::posted).collect();
        self.inbound.send(Inbound::Decisions(envelopes)).await.map_err(|_| RunGone)
    }

    /// The same without a wait. Says whether they were given: none is while as many batches are on their way as may be. What a
    /// run that is gone was given it reads from its store when it goes on.
    #[cfg(feature = "store")]
    pub(crate) fn try_post(&self, batch: Vec<Incoming>) -> bool {
        let envelopes = batch.into_iter().map(Envelope::posted).collect();
        let sent = self.inbound.try_send(Inbound::Decisions(envelopes));
        !matches!(sent, Err(mpsc::error::TrySendError::Full(_)))
    }

    /// Writes to a run that waits in place: the calls that wait are given up, and the model reads the message. Says whether
    /// the run took it; one that was not waiting when it was written does not. While no loop drives the run the answer is that
    /// of the next one.
    ///
    /// # Errors
    /// [`RunGone`] when nobody listens any more.
    ///
    /// # Cancel safety
    /// As [`decide`](Self::decide).
    pub async fn write(&self, message: impl Into<Arc<str>>) -> Result<bool, RunGone> {
        let (asker, reply) = oneshot::channel();
        self.inbound.send(Inbound::Message(message.into(), asker)).await.map_err(|_| RunGone)?;
        reply.await.map_err(|_| RunGone)
    }

    /// The calls that wait now.
    pub fn pending(&self) -> Arc<[PendingCall]> {
        Arc::clone(&self.pending.borrow())
    }

    /// Waits until the calls that wait are others than when this handle last looked, and gives them.
    ///
    /// # Errors
    /// [`RunGone`] when nobody takes decisions any more.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, no change is missed.
    pub async fn pending_changed(&mut self) -> Result<Arc<[PendingCall]>, RunGone> {
        self.pending.changed().await.map_err(|_| RunGone)?;
        Ok(Arc::clone(&self.pending.borrow_and_update()))
    }
}

impl Inbox {
    /// Puts a decision in from this side, behind those that wait.
    pub fn put(&mut self, incoming: Incoming) {
        self.waiting.push_back(Envelope::unasked(incoming));
    }

    /// The next decision, if one is there.
    pub(in crate::agent) fn take(&mut self) -> Option<Envelope> {
        while self.waiting.is_empty() {
            let inbound = self.inbound.try_recv().ok()?;
            self.sort(inbound);
        }
        self.waiting.pop_front()
    }

    /// The next decision that a store has accepted, if one is there.
    pub(in crate::agent) fn take_posted(&mut self) -> Option<Envelope> {
        self.sort_all();
        let at = self.waiting.iter().position(Envelope::is_posted)?;
        self.waiting.remove(at)
    }

    /// Decisions to take before all others.
    pub(in crate::agent) fn put_first(&mut self, envelope: Envelope) {
        self.waiting.push_front(envelope);
    }

    /// Waits until something is there; for ever once no handle is left.
    pub(in crate::agent) async fn ready(&mut self) {
        while self.waiting.is_empty() && self.message.is_none() {
            match self.inbound.recv().await {
                Some(inbound) => self.sort(inbound),
                None => std::future::pending().await,
            }
        }
    }

    /// Waits until a decision is there; for ever once no handle is left. The run does not wait meanwhile, so that what the
    /// user writes is refused.
    pub(in crate::agent) async fn decision_ready(&mut self) {
        loop {
            self.refuse_messages();
            if !self.waiting.is_empty() {
                return;
            }
            self.ready().await;
        }
    }

    fn sort_all(&mut self) {
        while let Ok(inbound) = self.inbound.try_recv() {
            self.sort(inbound);
        }
    }

    fn sort(&mut self, inbound: Inbound) {
        match inbound {
            Inbound::Decisions(envelopes) => self.waiting.extend(envelopes),
            Inbound::Message(text, asker) => {
                // The last one written is the one that counts; who wrote the other is told.
                if let Some((_, earlier)) = self.message.replace((text, asker)) {
                    earlier.send(false).ok();
                }
            }
        }
    }

    /// What the user wrote, for a run that waits.
    pub(in crate::agent) fn take_message(&mut self) -> Option<Arc<str>> {
        let (text, asker) = self.message.take()?;
        asker.send(true).ok();
        Some(text)
    }

    /// The run does not wait: nobody takes what the user has written so far.
    pub(in crate::agent) fn refuse_messages(&mut self) {
        self.sort_all();
        if let Some((_, asker)) = self.message.take() {
            asker.send(false).ok();
        }
    }

    /// Is somebody there to look at what waits?
    pub(in crate::agent) fn is_watched(&self) -> bool {
        self.pending.receiver_count() > 0
    }

    pub(in crate::agent) fn publish(&self, pending: Vec<PendingCall>) {
        self.pending.send_replace(pending.into());
    }
}

/// Nobody takes decisions there any more: the [`Inbox`] was dropped. See [`DecisionHandle`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunGone;

impl fmt::Display for RunGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the run that took decisions here is gone; read its stored state to see what was accepted, and give what was not to \
             the inbox of its next loop",
        )
    }
}

impl Error for RunGone {}
