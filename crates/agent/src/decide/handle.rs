//! The channel that carries decisions to a run.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};

use super::{Board, Incoming, PendingCall, Reply};

/// The number of batches that the channel holds. Further senders wait.
const BATCHES: usize = 64;

/// A decision and the receiver of its reply.
#[derive(Debug)]
pub(crate) struct Envelope {
    pub(crate) incoming: Incoming,
    reply: Option<oneshot::Sender<Reply>>,
    arrived: Arrival,
}

/// The state of the run's questions when a decision arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    /// No loop had begun, so no questions were known.
    Early,
    /// The decision was matched to its question.
    Bound,
    /// The run accepted the decision, and returned it because its commit was not made.
    Taken,
    /// A store accepted the decision.
    Posted,
}

impl Envelope {
    /// Wraps a decision without a receiver for the reply. The runtime's own decisions are of this kind.
    pub(crate) fn unasked(incoming: Incoming) -> Self {
        Envelope { incoming, reply: None, arrived: Arrival::Early }
    }

    /// Wraps a decision that a store has accepted.
    fn posted(incoming: Incoming) -> Self {
        Envelope { arrived: Arrival::Posted, ..Envelope::unasked(incoming) }
    }

    /// Returns whether a store has accepted the decision. Such a decision is valid, however late the run receives it.
    pub(crate) fn is_posted(&self) -> bool {
        self.arrived == Arrival::Posted
    }

    /// Matches the decision to its question on the board.
    fn bind(&mut self, board: &Board) -> Result<(), Reply> {
        let asked = board.bind(&self.incoming)?;
        self.incoming.suspension_id = Some(asked.suspension.id.clone());
        self.incoming.call = asked.call.to_string();
        self.arrived = Arrival::Bound;
        Ok(())
    }

    /// Matches a decision that was sent before the list existed. A decision that names its question is matched to
    /// that question. A decision that names its call alone is refused: no question had been shown when it was sent.
    fn bind_late(&mut self, board: &Board) -> Result<(), Reply> {
        if self.arrived != Arrival::Early {
            return Ok(());
        }
        let names_question = self.incoming.suspension_id.is_some() || self.incoming.digest.is_some();
        self.bind(board)?;
        if names_question { Ok(()) } else { Err(Reply::Unknown) }
    }

    /// Replies to a decision that the run does not accept any more.
    fn refuse(self, board: &Board) {
        let reply = board.bind(&self.incoming).err().unwrap_or(Reply::Stale);
        self.answer(reply);
    }

    pub(crate) fn answer(self, reply: Reply) {
        // The later commit of the run's end made the decision durable, so it is the accepted decision.
        let reply = match (self.arrived, reply) {
            (Arrival::Taken, Reply::Duplicate) => Reply::Accepted,
            (_, reply) => reply,
        };
        if let Some(asker) = self.reply {
            // The caller may have stopped waiting for the reply. That changes nothing.
            asker.send(reply).ok();
        }
    }
}

/// Messages from handles to the run.
#[derive(Debug)]
enum Inbound {
    /// Decisions that were sent together.
    Decisions(Vec<Envelope>),
    /// A message of the user.
    Message(Arc<str>, oneshot::Sender<bool>),
}

/// A handle that sends decisions to a run and lists its open questions. Clones may be used by any number of tasks.
///
/// ```
/// use runstate_agent::{Incoming, inbox};
/// use runstate::decision::DecisionAction;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let (handle, inbox) = inbox();
/// assert!(handle.pending().is_empty());
///
/// // Without a run at the other end, a decision cannot be delivered.
/// drop(inbox);
/// let error = handle.decide(Incoming::new("d-1", "call_1", DecisionAction::Resume)).await.unwrap_err();
/// assert!(error.to_string().starts_with("the run that took decisions here is gone; read its stored state"), "{error}");
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DecisionHandle {
    inbound: mpsc::Sender<Inbound>,
    board: watch::Receiver<Option<Board>>,
}

/// The receiving end of a run's decisions. It outlives activations: decisions that arrive between two activations are
/// received by the next one.
#[derive(Debug)]
pub struct Inbox {
    inbound: mpsc::Receiver<Inbound>,
    /// The decisions that a store has accepted. They are processed before all others.
    posted: VecDeque<Envelope>,
    waiting: VecDeque<Envelope>,
    message: Option<(Arc<str>, oneshot::Sender<bool>)>,
    /// The questions of the run; `None` before a loop receives decisions from this inbox.
    board: watch::Sender<Option<Board>>,
}

/// Creates a channel for decisions, and returns its two ends.
pub fn inbox() -> (DecisionHandle, Inbox) {
    let (inbound_in, inbound) = mpsc::channel(BATCHES);
    let (board, board_out) = watch::channel(None);
    let handle = DecisionHandle { inbound: inbound_in, board: board_out };
    (handle, Inbox { inbound, posted: VecDeque::new(), waiting: VecDeque::new(), message: None, board })
}

impl DecisionHandle {
    /// Sends one decision, and waits for its [`Reply`].
    ///
    /// This call matches the decision to its question in the list that [`pending`](Self::pending) returns now, before
    /// the future is polled. So the second of two consecutive calls never answers a question that the first one
    /// causes. A decision on a closed question gets its reply immediately, also if the run is parked or over. A
    /// decision that can be accepted waits for the run's next activation if no activation is in progress.
    ///
    /// Before the first loop receives decisions from the [`Inbox`], no list exists. A decision sent then is matched
    /// when that loop begins. If its future is first polled after that, a decision that names its call alone gets
    /// [`Reply::Unknown`].
    ///
    /// # Errors
    /// [`RunGone`] when the [`Inbox`] was dropped. The run's stored state then shows whether the decision was
    /// accepted. Sent again, an accepted decision gets [`Reply::Duplicate`].
    ///
    /// # Cancel safety
    /// If the future is dropped before its first wait is over, the decision is not sent. After that, the decision is
    /// sent and only the reply is lost.
    pub fn decide(&self, incoming: Incoming) -> impl Future<Output = Result<Reply, RunGone>> + Send + use<> {
        let replies = self.give(vec![incoming]);
        async move { replies.await?.pop().ok_or(RunGone) }
    }

    /// Sends several decisions together. The run receives them together, in order.
    ///
    /// # Errors
    /// See [`decide`](Self::decide).
    ///
    /// # Cancel safety
    /// See [`decide`](Self::decide).
    pub fn decide_all(
        &self,
        batch: Vec<Incoming>,
    ) -> impl Future<Output = Result<Vec<Reply>, RunGone>> + Send + use<> {
        self.give(batch)
    }

    fn give(&self, batch: Vec<Incoming>) -> impl Future<Output = Result<Vec<Reply>, RunGone>> + Send + use<> {
        let (mut envelopes, mut replies) = (Vec::new(), Vec::with_capacity(batch.len()));
        let board = self.board.borrow();
        for incoming in batch {
            let (asker, reply) = oneshot::channel();
            let mut envelope = Envelope { reply: Some(asker), ..Envelope::unasked(incoming) };
            match board.as_ref().map_or(Ok(()), |board| envelope.bind(board)) {
                Ok(()) => envelopes.push(envelope),
                Err(refused) => envelope.answer(refused),
            }
            replies.push(reply);
        }
        drop(board);
        let inbound = self.inbound.clone();
        let board = self.board.clone();
        async move {
            if inbound.is_closed() {
                return Err(RunGone);
            }
            if !envelopes.is_empty() {
                let place = inbound.reserve().await.map_err(|_| RunGone)?;
                // This holds the lock that a run takes to end: the run receives every decision sent before, and none
                // later.
                match &*board.borrow() {
                    Some(board) if board.is_over() => {
                        envelopes.into_iter().for_each(|envelope| envelope.refuse(board));
                    }
                    Some(board) => {
                        let mut bound = Vec::with_capacity(envelopes.len());
                        for mut envelope in envelopes {
                            match envelope.bind_late(board) {
                                Ok(()) => bound.push(envelope),
                                Err(refused) => envelope.answer(refused),
                            }
                        }
                        place.send(Inbound::Decisions(bound));
                    }
                    None => place.send(Inbound::Decisions(envelopes)),
                }
            }
            let mut all = Vec::with_capacity(replies.len());
            for reply in replies {
                all.push(reply.await.map_err(|_| RunGone)?);
            }
            Ok(all)
        }
    }

    /// Sends decisions that a store has accepted. The store has checked their expiry and their results. They are
    /// valid, however late the run receives them, and they are processed before the run expires any question. No
    /// replies are sent.
    ///
    /// # Errors
    /// See [`decide`](Self::decide).
    ///
    /// # Cancel safety
    /// If the future is dropped before it is ready, no decision is sent. A run that is read again may be given the
    /// decisions again.
    pub async fn post(&self, batch: Vec<Incoming>) -> Result<(), RunGone> {
        let place = self.inbound.reserve().await.map_err(|_| RunGone)?;
        // The borrow lasts until the decisions are sent: a run that is over receives none, and would leave them in
        // the queue.
        let board = self.board.borrow();
        if !board.as_ref().is_some_and(Board::is_over) {
            place.send(Inbound::Decisions(batch.into_iter().map(Envelope::posted).collect()));
        }
        Ok(())
    }

    /// Sends decisions as [`post`](Self::post) does, without waiting. Returns `false`, and sends none, if the channel
    /// is full. A run that is over or gone counts as sent: it reads the decisions from its store when it continues.
    #[doc(hidden)]
    pub fn try_post(&self, batch: Vec<Incoming>) -> bool {
        let board = self.board.borrow();
        if board.as_ref().is_some_and(Board::is_over) {
            return true;
        }
        let envelopes = batch.into_iter().map(Envelope::posted).collect();
        let sent = self.inbound.try_send(Inbound::Decisions(envelopes));
        !matches!(sent, Err(mpsc::error::TrySendError::Full(_)))
    }

    /// Sends a message of the user to a run that waits in place. The run cancels its waiting calls, and the model
    /// reads the message. Returns whether the run accepted the message. A run that is not waiting refuses it, and so
    /// does a run that is over. If no loop drives an unfinished run, the reply comes from the next loop.
    ///
    /// # Errors
    /// [`RunGone`] when the [`Inbox`] was dropped.
    ///
    /// # Cancel safety
    /// See [`decide`](Self::decide).
    pub async fn write(&self, message: impl Into<Arc<str>>) -> Result<bool, RunGone> {
        let (asker, reply) = oneshot::channel();
        let place = self.inbound.reserve().await.map_err(|_| RunGone)?;
        match &*self.board.borrow() {
            Some(board) if board.is_over() => return Ok(false),
            _ => place.send(Inbound::Message(message.into(), asker)),
        }
        reply.await.map_err(|_| RunGone)
    }

    /// The calls with an open question.
    pub fn pending(&self) -> Arc<[Arc<PendingCall>]> {
        self.board.borrow().as_ref().map_or_else(|| Arc::from([]), Board::pending)
    }

    /// Waits until the open questions differ from the last ones that this handle saw, and returns them.
    ///
    /// # Errors
    /// [`RunGone`] when the [`Inbox`] was dropped.
    ///
    /// # Cancel safety
    /// If the future is dropped before it is ready, no change is lost.
    pub async fn pending_changed(&mut self) -> Result<Arc<[Arc<PendingCall>]>, RunGone> {
        self.board.changed().await.map_err(|_| RunGone)?;
        Ok(self.board.borrow_and_update().as_ref().map_or_else(|| Arc::from([]), Board::pending))
    }
}

impl Inbox {
    /// Adds a decision at the end of the queue. The decision is matched to its question in this call, as in
    /// [`DecisionHandle::decide`]. A decision that answers no open question is dropped.
    pub fn put(&mut self, incoming: Incoming) {
        let mut envelope = Envelope::unasked(incoming);
        if self.board.borrow().as_ref().is_none_or(|board| envelope.bind(board).is_ok()) {
            self.waiting.push_back(envelope);
        }
    }

    /// Opens the inbox for a loop over this run, as of this commit. Decisions from before the first loop are matched
    /// to their questions now. Decisions matched against another list are matched again. The list of an earlier loop
    /// stays if it shows the same run and commit, unless `anew` is set.
    pub(crate) fn open(&mut self, run: &Arc<str>, commit: u64, anew: bool, board: impl FnOnce() -> Board) {
        let is_known = self.board.borrow().as_ref().is_some_and(|board| board.is_of(run, commit));
        let is_other = anew || !is_known;
        if is_other {
            let mut board = board();
            board.committed(commit);
            self.board.send_replace(Some(board));
        }
        self.sort_all();
        let waiting = std::mem::take(&mut self.waiting);
        let board = self.board.borrow();
        let Some(board) = board.as_ref() else { return };
        for mut envelope in waiting {
            let is_bound = envelope.arrived == Arrival::Bound && !is_other;
            match if is_bound { Ok(()) } else { envelope.bind(board) } {
                Ok(()) => self.waiting.push_back(envelope),
                Err(refused) => envelope.answer(refused),
            }
        }
    }

    /// Closes the inbox of a run that is over. Each received decision gets its reply now, and each later one when it
    /// is sent.
    pub(crate) fn close(&mut self) {
        self.board.send_modify(|board| board.iter_mut().for_each(Board::end));
        self.refuse_messages();
        let board = self.board.borrow();
        let Some(board) = board.as_ref() else { return };
        let given = self.posted.drain(..).chain(self.waiting.drain(..));
        given.for_each(|envelope| envelope.refuse(board));
    }

    /// Changes the list. `change` returns whether the open questions changed.
    pub(crate) fn changed(&self, change: impl FnOnce(&mut Board) -> bool) {
        self.board.send_if_modified(|board| board.as_mut().is_some_and(change));
    }

    /// Evaluates a decision against the list of questions.
    pub(crate) fn judged<T>(&self, judge: impl FnOnce(&Board) -> Result<T, Reply>) -> Result<T, Reply> {
        self.board.borrow().as_ref().map_or(Err(Reply::Unknown), judge)
    }

    /// The next decision, if one has arrived.
    pub(crate) fn take(&mut self) -> Option<Envelope> {
        while !self.has_decisions() {
            let inbound = self.inbound.try_recv().ok()?;
            self.sort(inbound);
        }
        self.posted.pop_front().or_else(|| self.waiting.pop_front())
    }

    /// The next decision that a store has accepted, if one has arrived.
    pub(crate) fn take_posted(&mut self) -> Option<Envelope> {
        self.sort_all();
        self.posted.pop_front()
    }

    /// Returns an uncommitted decision to the front of its queue.
    pub(crate) fn put_back(&mut self, mut envelope: Envelope) {
        if !envelope.is_posted() {
            envelope.arrived = Arrival::Taken;
        }
        let queue = if envelope.is_posted() { &mut self.posted } else { &mut self.waiting };
        queue.push_front(envelope);
    }

    /// Waits until a decision or a message has arrived. Without any handle, it waits forever.
    pub(crate) async fn ready(&mut self) {
        while !self.has_decisions() && self.message.is_none() {
            match self.inbound.recv().await {
                Some(inbound) => self.sort(inbound),
                None => std::future::pending().await,
            }
        }
    }

    /// Waits until a decision has arrived. Without any handle, it waits forever. The run is not waiting in place
    /// meanwhile, so messages of the user are refused.
    pub(crate) async fn decision_ready(&mut self) {
        loop {
            self.refuse_messages();
            if self.has_decisions() {
                return;
            }
            self.ready().await;
        }
    }

    fn has_decisions(&self) -> bool {
        !self.posted.is_empty() || !self.waiting.is_empty()
    }

    fn sort_all(&mut self) {
        while let Ok(inbound) = self.inbound.try_recv() {
            self.sort(inbound);
        }
    }

    fn sort(&mut self, inbound: Inbound) {
        match inbound {
            Inbound::Decisions(envelopes) => {
                let (posted, waiting): (Vec<_>, Vec<_>) =
                    envelopes.into_iter().partition(Envelope::is_posted);
                self.posted.extend(posted);
                self.waiting.extend(waiting);
            }
            Inbound::Message(text, asker) => {
                // The last message counts. The sender of the earlier message is told that it was refused.
                if let Some((_, earlier)) = self.message.replace((text, asker)) {
                    earlier.send(false).ok();
                }
            }
        }
    }

    /// The message of the user, for a run that waits.
    pub(crate) fn take_message(&mut self) -> Option<Arc<str>> {
        let (text, asker) = self.message.take()?;
        asker.send(true).ok();
        Some(text)
    }

    /// Refuses the messages that have arrived, because the run does not wait.
    pub(crate) fn refuse_messages(&mut self) {
        self.sort_all();
        if let Some((_, asker)) = self.message.take() {
            asker.send(false).ok();
        }
    }
}

/// Error: the [`Inbox`] was dropped, so the run does not receive decisions any more. See [`DecisionHandle`] for an
/// example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the run that took decisions here is gone; read its stored state for the accepted decisions, and give the others to \
     the inbox of its next loop"
)]
pub struct RunGone;
