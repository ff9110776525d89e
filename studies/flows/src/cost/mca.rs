//! Simulated figures of the machine code of tuple hashes.

use crate::hashes;
use crate::tables;
use hashlane_lab::probe::mca::{Calls, Function, Tool, records};
use hashlane_lab::study::{RunError, Session};

/// Schemes to simulate, looked up before anything takes time.
pub(super) struct Plan {
    /// Ids of the hashes, and the addresses of their code.
    hashes: Vec<(String, usize)>,
}

impl Plan {
    /// The hashes that the study names. Empty if it asks for no simulation, in a run of selected schemes, and
    /// in one on the user's tuples alone, which do not change the code.
    pub(super) fn new(session: &Session<'_>) -> Result<Self, RunError> {
        if !session.measures_generated() || session.definition.is_selection() {
            return Ok(Self { hashes: Vec::new() });
        }
        let registered = hashes::tuple_hashes();
        let code = |id: &String| match registered.iter().find(|hash| hash.info.id == id) {
            Some(hash) => Ok((id.clone(), hash.code)),
            None => Err(RunError::UnknownScheme { id: id.clone(), help: hashes::tuples_help() }),
        };
        let mca = tables::mca(session.definition)?;
        let ids = mca.iter().flat_map(|mca| &mca.schemes);
        Ok(Self { hashes: ids.map(code).collect::<Result<_, _>>()? })
    }

    /// Steps of the run's progress.
    pub(super) fn steps(&self) -> usize {
        usize::from(!self.hashes.is_empty())
    }

    /// Simulates all schemes. A failure leaves a note and does not end the study.
    pub(super) fn run(&self, session: &mut Session<'_>) {
        if self.hashes.is_empty() || session.stopped() {
            return;
        }
        session.step("mca", "simulating the machine code");
        let tool = match Tool::find() {
            Ok(tool) => tool,
            Err(error) => return session.notes.push(error.to_string()),
        };
        let mut functions = Vec::new();
        for (id, code) in &self.hashes {
            match Function::at(*code) {
                Ok(function) if function.calls() > 0 => session.notes.push(format!(
                    "{id} was not simulated: its code calls another function, which llvm-mca would not see"
                )),
                Ok(function) => functions.push((id, function)),
                Err(error) => return session.notes.push(format!("{id} was not simulated: {error}")),
            }
        }
        for (id, _) in functions.iter().filter(|(_, function)| function.loops()) {
            session.notes.push(format!("{id}: its code has a loop, of which llvm-mca simulates one round"));
        }
        session.notes.extend(tool.note());
        for cpu in tool.cpus() {
            for (id, function) in &functions {
                for calls in [Calls::Cold, Calls::None] {
                    if session.stopped() {
                        return;
                    }
                    match tool.run(function, cpu, calls) {
                        Ok(reading) => {
                            for record in records(&session.definition.slug, cpu, calls, id, &reading) {
                                // One for each scheme, processor and reading.
                                let _ = session.records.insert(record);
                            }
                        }
                        Err(error) => session.notes.push(format!("{id} on {cpu}: {error}")),
                    }
                }
            }
        }
    }
}
