//! The historical compressors: messages of the source have their sizes, and every message reads back.

use hashlane_baseline::dns::{Dumb, HashNotStored, HashedTwice, New, Old, PrimeBuckets, WholeName};
use hashlane_dns::render::{
    CompressedName, Compressor, Options, POINTER_LIMIT, RenderError, Renderer, SuffixTable, Writer,
};
use hashlane_dns::wire::{Class, Content, Header, Question, Rdata, Record, RecordType, Section};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Case, Name, NameBuf};
use proptest::collection::vec;
use proptest::prelude::*;

/// A list of all suffixes written, in lower case unless case matters, with their offsets.
#[derive(Default)]
struct Naive {
    case: Case,
    suffixes: Vec<(Vec<u8>, usize)>,
}

impl Compressor for Naive {
    fn start(&mut self, case: Case) {
        *self = Self { case, suffixes: Vec::new() };
    }

    fn place(&mut self, written: &[u8], name: Name<'_>) -> CompressedName {
        let (bytes, mut labels) = (name.as_bytes(), name.labels());
        while labels.rest().len() > 1 {
            let rest = labels.rest();
            let start = bytes.len() - rest.len();
            let folded: Vec<u8> = rest.iter().map(|byte| self.case.fold(*byte)).collect();
            if let Some((_, at)) = self.suffixes.iter().find(|(suffix, _)| *suffix == folded) {
                return CompressedName::new(start, Some(*at as u16));
            }
            if written.len() + start < POINTER_LIMIT {
                self.suffixes.push((folded, written.len() + start));
            }
            labels.next();
        }
        CompressedName::new(bytes.len(), None)
    }

    fn truncate(&mut self, len: usize) {
        self.suffixes.retain(|(_, at)| *at < len);
    }
}

/// Runs a block of code with each compressor that writes the shortest message.
macro_rules! for_each_compressor {
    ($compressor:pat_param, $code:block) => {
        for_each_compressor!(
            @ $compressor, $code, Old, New, PrimeBuckets, WholeName, HashNotStored, HashedTwice
        )
    };
    (@ $compressor:pat_param, $code:block, $($form:ty),*) => {
        $({
            let $compressor = <$form>::default();
            $code
        })*
    };
}

fn names(all: &[&str]) -> Vec<NameBuf> {
    all.iter().map(|name| name.parse().unwrap()).collect()
}

/// Renders names after a header's worth of bytes.
fn write<C: Compressor>(compressor: &mut C, names: &[NameBuf], case: Case) -> Vec<u8> {
    let mut buffer = vec![0; 12 + 256 * names.len()];
    let mut writer = Writer::new(&mut buffer, 0, compressor, case);
    writer.bytes(&[0; 12]).unwrap();
    for name in names {
        writer.name(name.view()).unwrap();
    }
    writer.finish().to_vec()
}

/// The source's positive response.
fn positive() -> Vec<NameBuf> {
    let mut all = vec!["www.example.com".to_owned()];
    let server = |letter: char| format!("{letter}.gtld-servers.net");
    for letter in 'a'..='l' {
        all.extend(["com".to_owned(), server(letter)]);
    }
    all.extend(["com".to_owned(), "com".to_owned()]);
    all.extend("aabbcdefghijklm".chars().map(server));
    all.iter().map(|name| name.parse().unwrap()).collect()
}

#[test]
fn messages_of_the_source_have_their_known_sizes() {
    let nxdomain = names(&["www.example.com", "example.com", "ns.example.com", "root.example.com"]);
    let servfail = names(&["www.example.com"]);
    for (names, size, plain) in [(positive(), 153, 639), (nxdomain, 43, 76), (servfail, 29, 29)] {
        let ours = write(&mut SuffixTable::new(&Key::VECTOR), &names, Case::Ignored);
        let old = write(&mut Old::default(), &names, Case::Ignored);
        assert_eq!((old.len(), ours.len()), (size, size));
        assert_eq!(write(&mut Dumb, &names, Case::Ignored).len(), plain);
    }
    assert_eq!(positive().len(), 42);
}

/// Many names are among them: the first version of the source's renderer kept pointers into an array that
/// moved when it grew.
#[test]
fn each_compressor_writes_the_bytes_of_a_naive_list() {
    let hosts = |count| (0..count).map(|n| format!("Host{n}.zone{}.example", n % 7).parse().unwrap());
    for names in [positive(), hosts(2000).collect::<Vec<_>>(), names(&["a.b", ".", "A.B", "x.a.b"])] {
        for case in [Case::Ignored, Case::Sensitive] {
            let expected = write(&mut Naive::default(), &names, case);
            for_each_compressor!(mut compressor, {
                assert!(write(&mut compressor, &names, case) == expected);
                assert!(write(&mut compressor, &names, case) == expected, "the second message");
            });
        }
    }
}

#[test]
fn forms_of_the_new_table_differ_in_their_buckets() {
    let start = "0123456789abcdef";
    let names: Vec<NameBuf> = (10..70).map(|n| format!("{start}{n}").parse().unwrap()).collect();
    let fullest = |buckets: Vec<usize>| (buckets.len(), buckets.into_iter().max().unwrap());
    macro_rules! buckets {
        ($($form:ty),*) => {
            [$({
                let mut table = <$form>::default();
                write(&mut table, &names, Case::Ignored);
                fullest(table.occupancy().collect())
            }),*]
        };
    }
    let [new, prime, whole, not_stored, twice] =
        buckets!(New, PrimeBuckets, WholeName, HashNotStored, HashedTwice);
    assert_eq!([new, not_stored, twice], [(64, 60); 3], "the names share their first 16 bytes");
    assert_eq!(prime, (67, 60));
    assert!(whole.0 == 64 && whole.1 < 10, "{whole:?}");
}

/// One edit of a message.
#[derive(Clone, Debug)]
enum Step {
    /// Adds an NS record: numbers of the owner and of the name server.
    Record(usize, usize),
    Mark,
    Rollback,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => any::<(usize, usize)>().prop_map(|(owner, server)| Step::Record(owner, server)),
        1 => Just(Step::Mark),
        1 => Just(Step::Rollback),
    ]
}

/// Names of few labels and letters, so that suffixes repeat and differ in case alone.
fn any_name() -> impl Strategy<Value = NameBuf> {
    let letter = prop::sample::select(b"aAb[{".to_vec());
    vec(vec(letter, 1..3), 0..6).prop_map(|labels| {
        let mut name = NameBuf::ROOT;
        labels.iter().for_each(|label| name.push(label).unwrap());
        name
    })
}

/// Renders the steps; returns the message and its expected content.
fn render<C: Compressor>(
    compressor: C,
    names: &[NameBuf],
    steps: &[Step],
    options: Options,
) -> (Vec<u8>, Content) {
    let mut renderer = Renderer::with(compressor);
    let header = Header::response(7);
    let mut message = renderer.start(header, options);
    message.question(names[0].view(), RecordType::ANY, Class::IN).unwrap();
    let question = Question { name: names[0], rtype: RecordType::ANY, class: Class::IN };
    let mut content = Content { header, questions: vec![question], records: Vec::new() };
    let mut marks = Vec::new();
    for step in steps {
        match step {
            Step::Mark => marks.push((message.mark(), content.records.len())),
            Step::Rollback => {
                if let Some((mark, count)) = marks.pop() {
                    message.rollback(mark).unwrap();
                    content.records.truncate(count);
                }
            }
            Step::Record(owner, server) => {
                let (owner, server) = (names[owner % names.len()], names[server % names.len()]);
                let (section, rtype, class) = (Section::Answer, RecordType::NS, Class::IN);
                let data = Rdata::name(server.view());
                match message.record(section, owner.view(), rtype, class, 60, &data) {
                    Ok(()) => {
                        let data = server.as_bytes().to_vec();
                        content.records.push(Record { section, owner, rtype, class, ttl: 60, data });
                    }
                    Err(error) => assert_eq!(error, RenderError::Full),
                }
            }
        }
    }
    (message.finish().to_vec(), content)
}

/// Compares a message with its content; with [`Case::Ignored`] names may differ in the case of letters.
fn check(message: &[u8], content: &Content, case: Case) {
    let read = Content::parse(message).unwrap();
    assert_eq!(read.header, content.header);
    let (read, expected) = (read.uncompressed().unwrap(), content.uncompressed().unwrap());
    assert!(case.eq(&read, &expected), "{read:x?} {expected:x?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn every_message_reads_back(
        names in vec(any_name(), 1..24),
        steps in vec(step(), 0..60),
        limit in prop_oneof![Just(65_535), 512..2000_usize],
        sensitive: bool,
    ) {
        let case = if sensitive { Case::Sensitive } else { Case::Ignored };
        let options = Options { limit, case, ..Options::default() };
        let (expected, content) = render(Naive::default(), &names, &steps, options);
        check(&expected, &content, case);
        for_each_compressor!(compressor, {
            let (message, _) = render(compressor, &names, &steps, options);
            prop_assert_eq!(&message, &expected);
        });
        let (message, content) = render(Dumb, &names, &steps, options);
        check(&message, &content, Case::Sensitive);
    }
}
