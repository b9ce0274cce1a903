//! JSON lines: what is written is read, and what cannot be read is named with its place.
use std::fmt::Write as _;
use std::io;

use proptest::prelude::*;
use runstate::trace::{Event, JsonlReader, JsonlWriter, LONGEST_LINE, Problem, ReadError};

const LINE: &str = r#"{"seq":7,"at_ms":12,"run":"r1","lifecycle":"tool_call","instance":"call_1","event":"suspend","from":"Running","to":"Suspended"}"#;

fn read(bytes: &[u8]) -> Result<Vec<Event<'static>>, ReadError> {
    JsonlReader::new(bytes).collect()
}

fn refused(bytes: &[u8]) -> ReadError {
    read(bytes).unwrap_err().named("run.jsonl")
}

#[test]
fn a_line_comes_out_as_it_went_in() {
    let created = LINE.replace(r#""Running""#, "null").replace("suspend", "create");
    let text = format!("{LINE}\n{created}\n");
    let events = read(text.as_bytes()).unwrap();
    assert_eq!(events[0].from.as_deref(), Some("Running"));
    assert!(events[1].is_creation());
    let mut writer = JsonlWriter::new(Vec::new());
    for event in &events {
        writer.write(event).unwrap();
    }
    assert_eq!(String::from_utf8(writer.into_inner()).unwrap(), text);
}

#[test]
fn further_fields_are_kept_to_the_letter() {
    let line = LINE.replace(r#""to""#, r#""a":{"b":[1,2.50,null]},"n":123456789012345678901234567890,"to""#);
    let event = Event::from_json(&line).unwrap();
    assert_eq!(event.extra.len(), 2);
    assert_eq!(event.extra.get("n"), Some("123456789012345678901234567890"));
    let again = event.to_json();
    assert_eq!(
        again,
        format!(
            r#"{},"a":{{"b":[1,2.50,null]}},"n":123456789012345678901234567890}}"#,
            &LINE[..LINE.len() - 1]
        )
    );
    assert_eq!(Event::from_json(&again).unwrap(), event);
}

#[test]
fn strings_are_borrowed_and_escapes_are_understood() {
    let line = LINE.replace("call_1", r"call\u00e4\n\ud83d\ude00");
    let event = Event::from_json(&line).unwrap();
    assert_eq!(event.instance, "callä\n😀");
    assert!(matches!(event.run, std::borrow::Cow::Borrowed("r1")));
}

#[test]
fn other_programs_habits_are_accepted() {
    let spaced = LINE.replace("\":", "\" : ");
    for text in
        [format!("\u{feff}{LINE}\n"), format!("{LINE}\r\n"), format!("\n  \n{spaced}\n\n"), LINE.to_owned()]
    {
        assert_eq!(read(text.as_bytes()).unwrap(), read(LINE.as_bytes()).unwrap(), "{text:?}");
    }
}

#[test]
fn bad_lines_are_named_with_their_place() {
    let mut shown = String::new();
    let wide = format!("{}{}", "x".repeat(500), r#"{"seq""#);
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("an empty file", b"".to_vec()),
        ("only blank lines", b"\n\n  \n".to_vec()),
        ("a number as text", LINE.replace("12", r#""12""#).into()),
        ("a negative number", LINE.replace("12", "-1").into()),
        ("a fraction", LINE.replace("12", "1.5").into()),
        ("a number too large", LINE.replace("12", "18446744073709551616").into()),
        ("text as a number", LINE.replace(r#""call_1""#, "1").into()),
        ("null for a name", LINE.replace(r#""r1""#, "null").into()),
        ("a number for from", LINE.replace(r#""Running""#, "[]").into()),
        ("a field twice", LINE.replace(r#""event""#, r#""seq":8,"event""#).into()),
        ("a further field twice", LINE.replace(r#""event""#, r#""x":1,"x":2,"event""#).into()),
        ("no from", LINE.replace(r#""from":"Running","#, "").into()),
        ("no to", LINE.replace(r#","to":"Suspended""#, "").into()),
        ("an array", b"[1,2]\n".to_vec()),
        ("two objects in a line", format!("{LINE}{LINE}\n").into()),
        ("prose after an event", format!("{LINE}\nthe end\n").into()),
        ("a lone surrogate", LINE.replace("call_1", r"\ud800").into()),
        ("a raw control character", LINE.replace("call_1", "call\t1").into()),
        ("binary", b"\x7fELF\x02\x01\x01\x00\xff\xfe".to_vec()),
        ("binary in a string", [&LINE.as_bytes()[..60], b"\xff\xfe", &LINE.as_bytes()[60..]].concat()),
        ("UTF-16", b"\xff\xfe{\0\"\0".to_vec()),
        ("a long line of rubbish", wide.into()),
        ("a cut last line", format!("{LINE}\n{}", &LINE[..70]).into()),
        ("a last line cut within a string", format!("{LINE}\n{}", &LINE[..50]).into()),
        ("a last line cut within a character", [b"{\"seq\":1,\"run\":\"\xe2\x82".as_slice()].concat()),
        ("a line broken in two", format!("{}\n{}\n", &LINE[..50], &LINE[50..]).into()),
    ];
    for (name, bytes) in cases {
        writeln!(shown, "# {name}\n{}", refused(&bytes).report()).unwrap();
    }
    super::snapshots().bind(|| insta::assert_snapshot!("trace__bad_lines", shown));
}

#[test]
fn cut_last_line_is_its_own_error_after_the_lines_before() {
    for end in 1..LINE.len() {
        let text = format!("{LINE}\n{}", &LINE[..end]);
        let mut reader = JsonlReader::new(text.as_bytes());
        assert!(reader.read().unwrap().is_some());
        let error = reader.read().unwrap_err();
        assert!(matches!(error.problem(), Problem::Cut), "{end}: {error}");
        assert_eq!(error.line(), 2);
        assert!(reader.read().unwrap().is_none(), "an error ends the reading");
    }
}

#[test]
fn ten_megabytes_in_one_line_are_read_or_refused_in_few_words() {
    let much = "y".repeat(10 << 20);
    let line = LINE.replace("call_1", &much);
    assert_eq!(read(line.as_bytes()).unwrap()[0].instance.len(), 10 << 20);
    let error = refused(LINE.replace("12", &format!("{much:?}")).as_bytes());
    assert!(error.report().len() < 1_000, "{}", error.report().len());
    let error = refused(format!("{much}\n").as_bytes());
    assert!(error.report().len() < 1_000);
}

#[test]
fn a_line_of_the_limit_is_read_and_a_longer_one_is_not() {
    for (length, is_too_long) in [(LONGEST_LINE, false), (LONGEST_LINE + 1, true)] {
        let mut line = vec![b'z'; length];
        line.push(b'\n');
        let error = JsonlReader::new(&line[..]).read().unwrap_err();
        assert_eq!(
            matches!(error.problem(), Problem::TooLong { .. }),
            is_too_long,
            "{length} bytes: {error}"
        );
    }
}

#[test]
fn a_line_beyond_the_limit_is_refused_without_reading_it_whole() {
    // The line never ends; only its first 16 MiB are looked at.
    let endless = io::BufReader::new(io::repeat(b'z'));
    let error = JsonlReader::new(endless).read().unwrap_err();
    assert!(matches!(error.problem(), Problem::TooLong { limit: LONGEST_LINE }), "{error}");
}

#[test]
fn deep_nesting_is_refused_and_does_not_overflow() {
    for depth in [1, 128] {
        let line =
            LINE.replace(r#""to""#, &format!(r#""x":{}{},"to""#, "[".repeat(depth), "]".repeat(depth)));
        assert_eq!(read(line.as_bytes()).unwrap().len(), 1, "{depth} levels");
    }
    let value = "[".repeat(129) + &"]".repeat(129);
    let error = refused(LINE.replace(r#""to""#, &format!(r#""x":{value},"to""#)).as_bytes());
    assert!(matches!(error.problem(), Problem::TooDeep { limit: 128 }), "{error}");
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let value = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        let error = refused(LINE.replace(r#""to""#, &format!(r#""x":{value},"to""#)).as_bytes());
        assert!(matches!(error.problem(), Problem::TooDeep { limit: 128 }), "{error}");
        assert!(error.column() > 128);
        // In the place of a field that means something it is of the wrong type, and not looked into.
        let error = refused(LINE.replace("12", &value).as_bytes());
        assert!(matches!(error.problem(), Problem::Shape { .. }), "{error}");
        // Left open it is cut.
        let error = refused(LINE.replace(r#""to""#, &format!(r#""x":{}"#, open.repeat(100_000))).as_bytes());
        assert!(matches!(error.problem(), Problem::Syntax { .. } | Problem::Cut), "{error}");
        let error = refused(open.repeat(100_000).as_bytes());
        assert!(matches!(error.problem(), Problem::Shape { .. } | Problem::Cut), "{error}");
    }
    let bracket_in_text = LINE.replace(r#""to""#, &format!(r#""x":"\"{}","to""#, "[".repeat(1_000)));
    assert_eq!(read(bracket_in_text.as_bytes()).unwrap().len(), 1);
}

#[test]
fn many_further_fields_are_read_in_reasonable_time() {
    let mut fields = String::new();
    for n in 0..200_000 {
        write!(fields, r#""f{n}":{n},"#).unwrap();
    }
    let line = LINE.replace(r#""to""#, &format!(r#"{fields}"to""#));
    assert_eq!(read(line.as_bytes()).unwrap()[0].extra.len(), 200_000);
}

#[test]
fn an_error_of_the_input_is_passed_on() {
    struct Broken;
    impl io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the cable is out"))
        }
    }
    let error = JsonlReader::new(io::BufReader::new(Broken)).read().unwrap_err();
    assert_eq!(error.to_string(), "line 1, column 1: cannot read: the cable is out");
    assert!(std::error::Error::source(&error).is_some());
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for outcome in JsonlReader::new(&bytes[..]) {
            match outcome {
                Ok(event) => prop_assert!(event.to_json().contains("\"seq\"")),
                Err(error) => prop_assert!(error.line() >= 1 && error.column() >= 1 && !error.report().is_empty()),
            }
        }
    }

    #[test]
    fn any_change_of_a_byte_is_read_or_refused(at in 0..LINE.len(), byte: u8) {
        let mut bytes = LINE.as_bytes().to_vec();
        bytes[at] = byte;
        for outcome in JsonlReader::new(&bytes[..]) {
            if let Err(error) = outcome {
                prop_assert!(!error.report().is_empty());
            }
        }
    }

    #[test]
    fn any_names_survive(seq: u64, at_ms: u64, names in prop::array::uniform5(".{0,12}"), from in prop::option::of(".{0,12}")) {
        let line = serde_json::json!({
            "seq": seq, "at_ms": at_ms, "run": names[0], "lifecycle": names[1], "instance": names[2],
            "event": names[3], "from": from, "to": names[4],
        }).to_string();
        let event = Event::from_json(&line).unwrap();
        prop_assert_eq!(&event.instance, &names[2]);
        prop_assert_eq!(event.from.as_deref(), from.as_deref());
        let again = event.to_json();
        prop_assert_eq!(Event::from_json(&again).unwrap(), event);
    }
}
