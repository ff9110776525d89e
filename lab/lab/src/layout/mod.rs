//! The report as a study file describes it: sentences, tables and charts as templates and expressions over
//! the records. `docs/study-files.md` has the fields and functions.

mod chart;
mod code;
mod figure;
mod file;
mod formats;
mod functions;
mod lists;
mod scope;
mod table;
#[cfg(test)]
mod tests;

use crate::definition::{Definition, DefinitionError};
use crate::evidence::Doubt;
use crate::report::{Answer, Block, Section, Statement, Text};
use code::{Code, Fault, Vars};
use file::{PartSpec, Placed, Purpose, SectionSpec, SentenceSpec, TextSpec};
use hashlane_records::RecordSet;
use minijinja::Environment;
use scope::{Context, Pretence, Scope};
use std::collections::BTreeMap;
use std::sync::Arc;

pub use file::Layout;
pub use minijinja::value::Value;

/// Values of the kind of study, by the names that its templates have for them.
pub type Values = BTreeMap<&'static str, Value>;

/// A fault of a part, with the line on which the part begins.
struct Misdrawn {
    line: usize,
    part: &'static str,
    fault: String,
}

impl Misdrawn {
    /// A sentence in place of the part.
    fn statement(&self) -> Statement {
        Statement { text: format!("Not drawn: {self}."), figures: Vec::new() }
    }
}

impl Placed {
    fn misdrawn(&self, fault: &Fault) -> Misdrawn {
        Misdrawn { line: self.line, part: self.part.name(), fault: fault.to_string() }
    }
}

/// Draws the records of a study as a layout says.
pub(crate) struct Drawer<'a> {
    layout: &'a Layout,
    scope: Arc<Scope>,
    env: Environment<'static>,
}

impl<'a> Drawer<'a> {
    /// `values` come from the study's kind.
    pub(crate) fn new(
        layout: &'a Layout,
        definition: &Definition,
        records: &RecordSet,
        values: &Values,
    ) -> Self {
        Self::of(layout, Scope::new(definition, records, Pretence::Real), values)
    }

    fn of(layout: &'a Layout, scope: Arc<Scope>, values: &Values) -> Self {
        let env = functions::environment(&scope, layout, values);
        Self { layout, scope, env }
    }

    /// The answer. A part that cannot be drawn is left out: [`check`] has reported it.
    pub(crate) fn answer(mut self) -> Answer {
        self.try_answer()
            .unwrap_or_else(|misdrawn| Answer::new(Err(Doubt::NotMeasured { figure: misdrawn.to_string() })))
    }

    /// The sections. One that cannot be drawn has the reason as its note.
    pub(crate) fn sections(mut self) -> Vec<Section> {
        let specs = self.layout.sections.iter();
        let section = |spec| match self.section(spec) {
            Ok(section) => section,
            Err(misdrawn) => Some(Section {
                title: spec.head.title.clone(),
                note: misdrawn.to_string(),
                findings: Vec::new(),
                blocks: Vec::new(),
            }),
        };
        specs.filter_map(section).collect()
    }

    fn context(&self) -> Context<'_> {
        Context { env: &self.env, scope: &self.scope }
    }

    /// Takes the lists of a model, also for the texts.
    fn model(&mut self, model: &str) -> bool {
        let found = self.scope.model(model);
        let lists = self.scope.lists();
        self.env.add_global("workloads", Value::from(lists.workloads.clone()));
        self.env.add_global("schemes", Value::from(lists.schemes.clone()));
        found
    }

    fn try_answer(&mut self) -> Result<Answer, Misdrawn> {
        let model = self.scope.definition.model.clone();
        self.model(&model);
        let mut answer = Answer::new(Err(Doubt::NotMeasured { figure: "the study".to_owned() }));
        if self.scope.is_empty() {
            return Ok(answer);
        }
        let (layout, mut is_answered) = (self.layout, false);
        for placed in &layout.answer {
            let other = placed.part.model();
            let has_records = other.is_none_or(|other| self.model(other));
            match &placed.part {
                _ if !has_records => {}
                // A file is checked with all of its answers.
                PartSpec::Sentence(spec)
                    if spec.purpose == Purpose::Answer && is_answered && !self.scope.pretends() => {}
                PartSpec::Sentence(spec) => {
                    let sentences = self.sentences(spec).map_err(|fault| placed.misdrawn(&fault));
                    let withheld =
                        |misdrawn: Misdrawn| vec![Err(Doubt::NotMeasured { figure: misdrawn.to_string() })];
                    for sentence in self.tolerate(sentences, withheld)? {
                        match (spec.purpose, sentence) {
                            (Purpose::Answer, sentence) => {
                                (answer.sentence, is_answered) = (sentence, true);
                            }
                            (Purpose::Surprise, Ok(surprise)) => answer.surprises.push(surprise.text),
                            (Purpose::Limit, Ok(limit)) => answer.limits.push(limit.text),
                            (Purpose::Surprise | Purpose::Limit | Purpose::Finding, _) => {}
                        }
                    }
                }
                PartSpec::Chart(_) if answer.chart.is_some() => {}
                _ => {
                    let blocks = self.block(placed);
                    answer.chart = self.tolerate(blocks, |_| Vec::new())?.into_iter().next();
                }
            }
            if other.is_some() {
                self.model(&model);
            }
        }
        Ok(answer)
    }

    /// Replaces a part that fails on records, which no check could foresee. While a file is checked, it is a
    /// fault instead.
    fn tolerate<T>(
        &self,
        part: Result<T, Misdrawn>,
        instead: impl FnOnce(Misdrawn) -> T,
    ) -> Result<T, Misdrawn> {
        match part {
            Err(misdrawn) if !self.scope.pretends() => Ok(instead(misdrawn)),
            part => part,
        }
    }

    /// The sentences of one `[[sentence]]`, or the doubts that withhold them.
    fn sentences(&self, spec: &SentenceSpec) -> Result<Vec<Result<Statement, Doubt>>, Fault> {
        self.scope.check(spec.checked);
        let sentences = self.each_sentence(spec);
        self.scope.check(false);
        sentences
    }

    fn each_sentence(&self, spec: &SentenceSpec) -> Result<Vec<Result<Statement, Doubt>>, Fault> {
        let text = code::Text::new(&self.env, "text", &spec.text)?;
        let when = spec.when.as_ref().map(|when| Code::new(&self.env, "when", when)).transpose()?;
        let mut sentences = Vec::new();
        for vars in table::each(self.context(), spec.each.as_ref())? {
            if let Some(when) = &when
                && !when.holds(&vars)?
            {
                continue;
            }
            self.scope.check(spec.checked);
            match text.words(&vars) {
                Ok(words) if words.is_empty() => {}
                Ok(text) => sentences.push(Ok(Statement { text, figures: self.scope.stated() })),
                Err(fault) => match figure::doubt(&fault.error) {
                    Some(doubt) => sentences.push(Err(doubt)),
                    None => return Err(fault),
                },
            }
        }
        Ok(sentences)
    }

    fn section(&mut self, spec: &SectionSpec) -> Result<Option<Section>, Misdrawn> {
        let own = [self.scope.definition.model.clone()];
        let models = if spec.head.models.is_empty() { &own[..] } else { &spec.head.models };
        let Some(model) = models.iter().find(|model| self.model(model)) else { return Ok(None) };
        let (head, none) = (&spec.head, Vars::default());
        let of_head = |fault: Fault| Misdrawn { line: spec.line, part: "section", fault: fault.to_string() };
        if !table::holds(&self.env, head.when.as_ref(), &none).map_err(of_head)? {
            return Ok(None);
        }
        let words = |field, source: &str| {
            code::Text::new(&self.env, field, source).and_then(|text| text.words(&none)).map_err(of_head)
        };
        let title = words("title", &head.title)?;
        let note = self.scope.lists().note(words("note", &head.note)?);
        let mut section = Section { title, note, findings: Vec::new(), blocks: Vec::new() };
        for placed in &spec.parts {
            let other = placed.part.model();
            if other.is_none_or(|other| self.model(other)) {
                match &placed.part {
                    PartSpec::Sentence(sentence) => {
                        let found = self.sentences(sentence).map_err(|fault| placed.misdrawn(&fault));
                        let found = self.tolerate(found, |misdrawn| vec![Ok(misdrawn.statement())])?;
                        section.findings.extend(found.into_iter().flatten().map(|statement| statement.text));
                    }
                    _ => match self.block(placed) {
                        Err(misdrawn) if !self.scope.pretends() => {
                            section.findings.push(misdrawn.statement().text);
                        }
                        blocks => section.blocks.extend(blocks?),
                    },
                }
            }
            if other.is_some() {
                self.model(model);
            }
        }
        let has_contents = !section.blocks.is_empty() || !section.findings.is_empty();
        Ok(has_contents.then_some(section))
    }

    fn block(&self, placed: &Placed) -> Result<Vec<Block>, Misdrawn> {
        let blocks = match &placed.part {
            PartSpec::Table(spec) => table::tables(self.context(), spec)
                .map(|tables| tables.into_iter().map(Block::Table).collect()),
            PartSpec::Chart(spec) => chart::charts(self.context(), spec),
            PartSpec::Text(spec) => self.text(spec).map(|text| text.into_iter().collect()),
            PartSpec::Sentence(_) => Ok(Vec::new()),
        };
        blocks.map_err(|fault| placed.misdrawn(&fault))
    }

    fn text(&self, spec: &TextSpec) -> Result<Option<Block>, Fault> {
        let none = Vars::default();
        if !table::holds(&self.env, spec.when.as_ref(), &none)? {
            return Ok(None);
        }
        let text = code::Text::new(&self.env, "text", &spec.text)?.render(&none)?;
        Ok((!text.trim().is_empty()).then_some(Block::Text(Text {
            caption: code::Text::new(&self.env, "caption", &spec.caption)?.words(&none)?,
            text,
            shown: table::visible(&self.env, &spec.shown, &none)?,
        })))
    }
}

impl std::fmt::Display for Misdrawn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}.{}", self.line, self.part, self.fault)
    }
}

/// Draws the layout of a study as if nothing was measured, and as if everything was.
///
/// # Errors
/// The first part that cannot be drawn: a text that does not parse, an unknown function, format or role.
pub(crate) fn check(definition: &Definition, values: &Values) -> Result<(), DefinitionError> {
    let layout = &definition.layout;
    if layout.is_empty() {
        return Ok(());
    }
    let error = |misdrawn: Misdrawn| DefinitionError::new(definition.origin(), misdrawn);
    let own = |part, fault| error(Misdrawn { line: 1, part, fault });
    if let Some(fault) = formats::unknown(&layout.formats) {
        return Err(own("formats", fault));
    }
    // Sentences have other words for ratios below and above 1.
    for pretence in [Pretence::Missing, Pretence::All(0.1), Pretence::All(1.0), Pretence::All(10.0)] {
        let scope = Scope::new(definition, &RecordSet::new(), pretence);
        let mut drawer = Drawer::of(layout, scope, values);
        drawer.env.get_template(scope::WORDS).map_err(|error| {
            let line = error.line().map_or_else(String::new, |line| format!(", line {line} of them"));
            own("words", format!("{}: {}{line}", error.kind(), error.detail().unwrap_or_default()))
        })?;
        drawer.try_answer().map_err(error)?;
        for section in &layout.sections {
            drawer.section(section).map_err(error)?;
        }
    }
    Ok(())
}
