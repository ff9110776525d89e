//! Simulated figures of the machine code of tuple hashes.

use super::in_c;
use crate::hashes;
use crate::tables;
use hashlane_lab::probe::mca::{Calls, Function, Tool, records};
use hashlane_lab::study::{RunError, Session};

/// Suffix of the workloads of C code: `mca/CPU/in-c`, `mca/CPU/cold-call/in-c`.
pub(super) const IN_C: &str = "/in-c";

/// Schemes to simulate, looked up before anything takes time.
pub(super) struct Plan {
    /// Ids of the hashes, and the addresses of their code.
    hashes: Vec<(String, usize)>,
    /// Ids of the hashes in C.
    in_c: Vec<String>,
}

/// One simulation: the suffix of its workload, the hash, its code, and the calls after it.
type Simulation = (&'static str, String, Function, Calls);

impl Plan {
    /// The hashes that the study names. Empty if it asks for no simulation, in a run of selected schemes, and
    /// in one on the user's tuples alone, which do not change the code.
    pub(super) fn new(session: &Session<'_>) -> Result<Self, RunError> {
        let mca = tables::mca(session.definition)?;
        let wanted = session.measures_generated() && !session.definition.is_selection();
        let Some(mca) = mca.filter(|_| wanted) else {
            return Ok(Self { hashes: Vec::new(), in_c: Vec::new() });
        };
        let code = |id: &String| match hashes::tuple_hash(id) {
            Some(hash) => Ok((id.clone(), hash.code)),
            None => Err(RunError::UnknownScheme { id: id.clone(), help: hashes::tuples_help() }),
        };
        Ok(Self { hashes: mca.schemes.iter().map(code).collect::<Result<_, _>>()?, in_c: mca.in_c })
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
        session.notes.extend(tool.note());
        let simulations = [self.ours(session), self.in_c(session)].concat();
        for cpu in tool.cpus() {
            for (suffix, id, function, calls) in &simulations {
                if session.stopped() {
                    return;
                }
                // The calls of C code are its own.
                let after = if suffix.is_empty() { *calls } else { Calls::None };
                match tool.run(function, cpu, after) {
                    Ok(reading) => {
                        let workload = format!("{}{suffix}", calls.workload(cpu));
                        for record in records(&session.definition.slug, &workload, id, &reading) {
                            // One for each scheme, processor and reading.
                            let _ = session.records.insert(record);
                        }
                    }
                    Err(error) => session.notes.push(format!("{id} on {cpu}: {error}")),
                }
            }
        }
    }

    /// Our code, out of this program.
    fn ours(&self, session: &mut Session<'_>) -> Vec<Simulation> {
        let mut simulations = Vec::new();
        for (id, code) in &self.hashes {
            let function = match Function::at(*code) {
                Ok(function) if function.calls() > 0 => {
                    session.notes.push(format!(
                        "{id} was not simulated: its code calls another function, which llvm-mca would not see"
                    ));
                    continue;
                }
                Ok(function) => function,
                Err(error) => {
                    session.notes.push(format!("{id} was not simulated: {error}"));
                    break;
                }
            };
            if function.loops() {
                let note = format!("{id}: its code has a loop, of which llvm-mca simulates one round");
                session.notes.push(note);
            }
            for calls in [Calls::Cold, Calls::None] {
                simulations.push(("", id.clone(), function.clone(), calls));
            }
        }
        simulations
    }

    /// The source's code, as the C compiler makes it: with its calls in the cold arm, and without.
    fn in_c(&self, session: &mut Session<'_>) -> Vec<Simulation> {
        if self.in_c.is_empty() {
            return Vec::new();
        }
        match in_c::functions(&self.in_c) {
            Ok((functions, compiler)) => {
                let flags = in_c::FLAGS.join(" ");
                session.notes.push(format!("C code was simulated as compiled with {flags} by {compiler}"));
                let both = |(id, function): (String, Function)| {
                    let alone = function.without_calls();
                    [(IN_C, id.clone(), function, Calls::Cold), (IN_C, id, alone, Calls::None)]
                };
                functions.into_iter().flat_map(both).collect()
            }
            Err(why) => {
                session.notes.push(format!("C code was not simulated: {why}"));
                Vec::new()
            }
        }
    }
}
