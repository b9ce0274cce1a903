//! The way decisions take to a run.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};

use super::{Board, Incoming, PendingCall, Reply};

/// Batches on their way to a run. More wait at their senders.
const BATCHES: usize = 64;

/// A decision and who wants to know what became of it.
#[derive(Debug)]
pub(in crate::agent) struct Envelope {
    pub(in crate::agent) incoming: Incoming,
    reply: Option<oneshot::Sender<Reply>>,
    arrived: Arrival,
}

/// What was known of the run's questions when a decision arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    /// Nothing: no loop had begun.
    Early,
    /// The question that it names now.
    Bound,
    /// It was taken as the answer, and is back: its own commit was not made.
    Taken,
    /// A store has bound and accepted it.
    Posted,
}

impl Envelope {
    /// One of the runtime's own, or one that a caller does not ask about.
    pub(in crate::agent) fn unasked(incoming: Incoming) -> Self {
        Envelope { incoming, reply: None, arrived: Arrival::Early }
    }

    /// One that a store has accepted.
    fn posted(incoming: Incoming) -> Self {
        Envelope { arrived: Arrival::Posted, ..Envelope::unasked(incoming) }
    }

    /// Has a store accepted it? Then it counts, however late it is taken.
    pub(in crate::agent) fn is_posted(&self) -> bool {
        self.arrived == Arrival::Posted
    }

    /// Binds it to its question, as the board has it.
    fn bind(&mut self, board: &Board) -> Result<(), Reply> {
        let asked = board.bind(&self.incoming)?;
        self.incoming.suspension_id = Some(asked.suspension.id.clone());
        self.incoming.call = asked.call.to_string();
        self.arrived = Arrival::Bound;
        Ok(())
    }

    /// Looks again at a decision that was given before there was a list, now that there is one. One that names its question is for
    /// that question; one that names its call alone was given before any question was shown.
    fn bind_late(&mut self, board: &Board) -> Result<(), Reply> {
        if self.arrived != Arrival::Early {
            return Ok(());
        }
        let names_question = self.incoming.suspension_id.is_some() || self.incoming.digest.is_some();
        self.bind(board)?;
        if names_question { Ok(()) } else { Err(Reply::Unknown) }
    }

    /// Answers a decision that the run takes no more.
    fn refuse(self, board: &Board) {
        let reply = board.bind(&self.incoming).err().unwrap_or(Reply::Stale);
        self.answer(reply);
    }

    pub(in crate::agent) fn answer(self, reply: Reply) {
        // A later commit than its own made it durable, that of the run's end: it is the decision that was accepted.
        let reply = match (self.arrived, reply) {
            (Arrival::Taken, Reply::Duplicate) => Reply::Accepted,
            (_, reply) => reply,
        };
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
    board: watch::Receiver<Option<Board>>,
}

/// Where a run takes decisions from. It outlives activations: what comes in while none runs is taken by the next.
#[derive(Debug)]
pub struct Inbox {
    inbound: mpsc::Receiver<Inbound>,
    /// What a store has accepted: it is taken before all else.
    posted: VecDeque<Envelope>,
    waiting: VecDeque<Envelope>,
    message: Option<(Arc<str>, oneshot::Sender<bool>)>,
    /// The questions of the run; none before a loop takes decisions from here.
    board: watch::Sender<Option<Board>>,
}

/// A way for decisions, and its two ends.
pub fn inbox() -> (DecisionHandle, Inbox) {
    let (inbound_in, inbound) = mpsc::channel(BATCHES);
    let (board, board_out) = watch::channel(None);
    let handle = DecisionHandle { inbound: inbound_in, board: board_out };
    (handle, Inbox { inbound, posted: VecDeque::new(), waiting: VecDeque::new(), message: None, board })
}

impl DecisionHandle {
    /// Gives one decision, and waits for what becomes of it: a [`Reply`].
    ///
    /// It is bound to its question in this call, before the future is polled: to the list that [`pending`](Self::pending) gives
    /// now. So of two calls that are made one behind the other, the second never answers a question that the first one brings
    /// about. A decision on a question that does not wait any more is answered at once, also when the run is parked or over; one
    /// that can be taken waits for the run's next activation where none is under way. Before the first loop takes decisions from the [`Inbox`] there is
    /// no list: a decision that is sent then is bound when that loop begins. One whose future is polled for the first time after that is
    /// [`Reply::Unknown`] if it names its call alone.
    ///
    /// # Errors
    /// [`RunGone`] when the [`Inbox`] was dropped. Whether this one was accepted is then what the run's stored state says;
    /// given again it is [`Reply::Duplicate`] if it was.
    ///
    /// # Cancel safety
    /// Dropped before the first wait is over, the decision is not given; after that it is, and only the reply is lost.
    pub fn decide(&self, incoming: Incoming) -> impl Future<Output = Result<Reply, RunGone>> + Send + use<> {
        let replies = self.give(vec![incoming]);
        async move { replies.await?.pop().ok_or(RunGone) }
    }

    /// Gives several decisions at once, which are taken in together, in order.
    ///
    /// # Errors
    /// As [`decide`](Self::decide).
    ///
    /// # Cancel safety
    /// As [`decide`](Self::decide).
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
                // Under the lock that a run takes to end: it takes what was sent before, and nothing later.
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

    /// Gives decisions that a store has accepted (the design's "Decisions"). They came in time and fit what was asked for, so
    /// they count before anything lapses, however late they are taken; nobody asks what becomes of them.
    ///
    /// # Errors
    /// As [`decide`](Self::decide).
    ///
    /// # Cancel safety
    /// Dropped before it is over, none is given. A run that is read anew may be given them again.
    pub async fn post(&self, batch: Vec<Incoming>) -> Result<(), RunGone> {
        let place = self.inbound.reserve().await.map_err(|_| RunGone)?;
        // Held until they are on their way: a run that is over takes none, and would leave them in the queue.
        let board = self.board.borrow();
        if !board.as_ref().is_some_and(Board::is_over) {
            place.send(Inbound::Decisions(batch.into_iter().map(Envelope::posted).collect()));
        }
        Ok(())
    }

    /// The same without a wait. Says whether they were given: none is while as many batches are on their way as may be. What a
    /// run that is gone was given it reads from its store when it goes on.
    #[cfg(feature = "store")]
    pub(crate) fn try_post(&self, batch: Vec<Incoming>) -> bool {
        let board = self.board.borrow();
        if board.as_ref().is_some_and(Board::is_over) {
            return true;
        }
        let envelopes = batch.into_iter().map(Envelope::posted).collect();
        let sent = self.inbound.try_send(Inbound::Decisions(envelopes));
        !matches!(sent, Err(mpsc::error::TrySendError::Full(_)))
    }

    /// Writes to a run that waits in place: the calls that wait are given up, and the model reads the message. Says whether
    /// the run took it; one that was not waiting when it was written does not, nor does one that is over. While no loop drives
    /// a run that is not over, the answer is that of the next one.
    ///
    /// # Errors
    /// [`RunGone`] when nobody listens any more.
    ///
    /// # Cancel safety
    /// As [`decide`](Self::decide).
    pub async fn write(&self, message: impl Into<Arc<str>>) -> Result<bool, RunGone> {
        let (asker, reply) = oneshot::channel();
        let place = self.inbound.reserve().await.map_err(|_| RunGone)?;
        match &*self.board.borrow() {
            Some(board) if board.is_over() => return Ok(false),
            _ => place.send(Inbound::Message(message.into(), asker)),
        }
        reply.await.map_err(|_| RunGone)
    }

    /// The calls that wait.
    pub fn pending(&self) -> Arc<[Arc<PendingCall>]> {
        self.board.borrow().as_ref().map_or_else(|| Arc::from([]), Board::pending)
    }

    /// Waits until the calls that wait are others than when this handle last looked, and gives them.
    ///
    /// # Errors
    /// [`RunGone`] when the [`Inbox`] was dropped.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, no change is missed.
    pub async fn pending_changed(&mut self) -> Result<Arc<[Arc<PendingCall>]>, RunGone> {
        self.board.changed().await.map_err(|_| RunGone)?;
        Ok(self.board.borrow_and_update().as_ref().map_or_else(|| Arc::from([]), Board::pending))
    }
}

impl Inbox {
    /// Puts a decision in from this side, behind those that wait. It arrives with this call, as with
    /// [`DecisionHandle::decide`]; one that is no answer to anything that waits is dropped.
    pub fn put(&mut self, incoming: Incoming) {
        let mut envelope = Envelope::unasked(incoming);
        if self.board.borrow().as_ref().is_none_or(|board| envelope.bind(board).is_ok()) {
            self.waiting.push_back(envelope);
        }
    }

    /// A loop takes decisions from here, for this run as of this commit. Decisions that came before any loop are bound now, and
    /// those that another list bound are bound again. The list of an earlier loop stays if it is of the same run and commit,
    /// unless it is to be made anew.
    pub(in crate::agent) fn open(
        &mut self,
        run: &Arc<str>,
        commit: u64,
        anew: bool,
        board: impl FnOnce() -> Board,
    ) {
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

    /// The run is over: each decision that was given is answered now, and each later one when it is given.
    pub(in crate::agent) fn close(&mut self) {
        self.board.send_modify(|board| board.iter_mut().for_each(Board::end));
        self.refuse_messages();
        let board = self.board.borrow();
        let Some(board) = board.as_ref() else { return };
        let given = self.posted.drain(..).chain(self.waiting.drain(..));
        given.for_each(|envelope| envelope.refuse(board));
    }

    /// Changes the list. Says whether what waits is other than before.
    pub(in crate::agent) fn changed(&self, change: impl FnOnce(&mut Board) -> bool) {
        self.board.send_if_modified(|board| board.as_mut().is_some_and(change));
    }

    /// The question that a decision is on, and whether it can be accepted now.
    pub(in crate::agent) fn judged<T>(
        &self,
        judge: impl FnOnce(&Board) -> Result<T, Reply>,
    ) -> Result<T, Reply> {
        self.board.borrow().as_ref().map_or(Err(Reply::Unknown), judge)
    }

    /// The next decision, if one is there.
    pub(in crate::agent) fn take(&mut self) -> Option<Envelope> {
        while !self.has_decisions() {
            let inbound = self.inbound.try_recv().ok()?;
            self.sort(inbound);
        }
        self.posted.pop_front().or_else(|| self.waiting.pop_front())
    }

    /// The next decision that a store has accepted, if one is there.
    pub(in crate::agent) fn take_posted(&mut self) -> Option<Envelope> {
        self.sort_all();
        self.posted.pop_front()
    }

    /// Puts back a decision that was taken and not committed, before all others.
    pub(in crate::agent) fn put_back(&mut self, mut envelope: Envelope) {
        if !envelope.is_posted() {
            envelope.arrived = Arrival::Taken;
        }
        let queue = if envelope.is_posted() { &mut self.posted } else { &mut self.waiting };
        queue.push_front(envelope);
    }

    /// Waits until something is there; for ever once no handle is left.
    pub(in crate::agent) async fn ready(&mut self) {
        while !self.has_decisions() && self.message.is_none() {
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
                // The last one written is the one that counts; the writer of the other is told.
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

    /// The run does not wait: what the user has written so far is not taken.
    pub(in crate::agent) fn refuse_messages(&mut self) {
        self.sort_all();
        if let Some((_, asker)) = self.message.take() {
            asker.send(false).ok();
        }
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
