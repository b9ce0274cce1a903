//! The pieces of an answer, and their times.

use runstate_agent::event::{AgentEvent, EventKind};

use crate::file::Turn;

/// Consecutive pieces of an answer, as one row of the record.
struct Row<'r> {
    /// The time since the model was asked.
    at_ms: u64,
    /// The number of its pieces.
    count: u64,
    text: &'r str,
}

/// Sets the times of the pieces of the answer of a step. Its events end with its end. Pieces of a row are at the time of
/// the row.
pub(super) fn time(turn: &mut Turn, step: u32, until_end: &[AgentEvent], is_redacted: bool) {
    let is_asked =
        |event: &AgentEvent| matches!(event.kind, EventKind::InferenceStarted { step: of } if of == step);
    let begun: Vec<usize> = (0..until_end.len()).filter(|place| is_asked(&until_end[*place])).collect();
    let (Some(&last), Some(end)) = (begun.last(), until_end.last()) else { return };
    // A crash interrupts an answer, and the next process asks for it again. The record of either may have more rows.
    let ends = begun.iter().skip(1).copied().chain([until_end.len()]);
    let asked = begun.iter().zip(ends).map(|(begun, end)| rows(&until_end[*begun..end]));
    let rows = asked.max_by_key(Vec::len).unwrap_or_default();
    turn.piece = piece(&rows);
    let shown = shown(turn, is_redacted);
    let starts = starts(&rows, &shown);
    let mut last_ms = 0_u64;
    let mut silence_until = |at_ms: u64| {
        let silence = at_ms.saturating_sub(last_ms);
        last_ms = last_ms.max(at_ms);
        silence
    };
    let begins = |place: usize| rows.get(starts.iter().position(|start| *start == place)?);
    let mut silences: Vec<u64> =
        (0..shown.len()).map(|place| begins(place).map_or(0, |row| silence_until(row.at_ms))).collect();
    silences.push(silence_until(end.at_ms.saturating_sub(until_end[last].at_ms)));
    turn.after_ms = silences.remove(0);
    let needed = silences.iter().rposition(|silence| *silence > 0).map_or(0, |last| last + 1);
    silences.truncate(needed);
    turn.pauses_ms = silences;
}

/// The rows of an answer, from the event of its beginning.
fn rows(inference: &[AgentEvent]) -> Vec<Row<'_>> {
    let begun_ms = inference.first().map_or(0, |event| event.at_ms);
    let row = |event| match event {
        &AgentEvent { seq, at_ms, kind: EventKind::AnswerPieces { last, ref text, .. }, .. } => Some(Row {
            at_ms: at_ms.saturating_sub(begun_ms),
            count: last.saturating_sub(seq).saturating_add(1),
            text,
        }),
        _ => None,
    };
    inference.iter().filter_map(row).collect()
}

/// The number of characters of a piece, if the text is in several rows: a text is cut where a row ends.
fn piece(rows: &[Row<'_>]) -> Option<usize> {
    let lengths: Vec<usize> = rows.iter().map(|row| row.text.chars().count()).filter(|it| *it > 0).collect();
    let (_, earlier) = lengths.split_last()?;
    earlier.iter().copied().reduce(greatest_common_divisor)
}

fn greatest_common_divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

/// The pieces of a turn, in order: the length of a text, or `None` for a part of a call. The second value tells whether
/// the record shows the piece.
fn shown(turn: &Turn, is_redacted: bool) -> Vec<(usize, bool)> {
    let cut = |text: &str| -> Vec<usize> {
        let characters = text.chars().count();
        match turn.piece {
            Some(most) => (0..characters).step_by(most).map(|from| most.min(characters - from)).collect(),
            None => vec![characters],
        }
    };
    let mut pieces: Vec<(usize, bool)> =
        turn.text.iter().flat_map(|text| cut(text)).map(|length| (length, true)).collect();
    for call in &turn.calls {
        pieces.push((0, true));
        pieces.extend(cut(&call.argument_text()).iter().map(|_| (0, !is_redacted)));
    }
    pieces
}

/// The place of the first piece of each row.
fn starts(rows: &[Row<'_>], pieces: &[(usize, bool)]) -> Vec<usize> {
    let shown: Vec<usize> = (0..pieces.len()).filter(|place| pieces[*place].1).collect();
    let recorded = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.count));
    // The model of the record had other pieces: a row has its text, and one piece without a text.
    let is_same = recorded == shown.len() as u64;
    let mut starts = Vec::with_capacity(rows.len());
    let mut at = 0;
    for row in rows {
        let Some(place) = shown.get(at) else { break };
        starts.push(*place);
        at += match is_same {
            true => usize::try_from(row.count).unwrap_or(usize::MAX),
            false => of_text(row.text.chars().count(), shown[at..].iter().map(|place| pieces[*place].0)),
        };
    }
    starts
}

/// The number of pieces that have the text of a row; 1 for a row without a text.
fn of_text(length: usize, pieces: impl Iterator<Item = usize>) -> usize {
    let mut left = length;
    let of_row = pieces.take_while(|piece| {
        let is_part = left > 0 && *piece > 0;
        left = left.saturating_sub(*piece);
        is_part
    });
    of_row.count().max(1)
}
