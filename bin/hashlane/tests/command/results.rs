//! The folder of results: written, drawn again, compared.

use hashlane_rig::command::{Folder, STUDY, holds};

/// A folder in which the study has run.
pub(crate) fn ran() -> Folder {
    let folder = Folder::new();
    folder.write("mine.toml", STUDY);
    folder.run(&["study", "run", "mine.toml", "--out", "a"]).ok();
    folder
}

#[test]
fn report_draws_the_same_page_again() {
    let folder = ran();
    let page = folder.path("a/report.html");
    let first = std::fs::read(&page).unwrap();
    std::fs::remove_file(&page).unwrap();
    let out = folder.run(&["report", "a"]).ok();
    holds(&out, &["3Bx2", "report:  a/report.html"]);
    assert!(std::fs::read(&page).unwrap() == first);
}

#[test]
fn a_folder_is_drawn_by_the_study_file_that_it_keeps() {
    let folder = ran();
    // The user's own file is gone, and so is its slug among the command's studies.
    std::fs::remove_file(folder.path("mine.toml")).unwrap();
    holds(&folder.run(&["report", "a", "--verbose"]).ok(), &["3Bx2"]);
    // Folders of earlier versions keep no study files.
    std::fs::remove_file(folder.path("a/studies.toml")).unwrap();
    holds(&folder.run(&["report", "a"]).failed(), &["no study \"mine\"", "name its file with --study"]);
    folder.write("again.toml", STUDY);
    folder.run(&["report", "a", "--study", "again.toml"]).ok();
    folder.write("a/studies.toml", "[[study]]\ncolour = 1\n");
    holds(&folder.run(&["report", "a"]).failed(), &["a/studies.toml"]);
}

#[test]
fn a_selection_measures_nothing_else() {
    let folder = Folder::new();
    folder.write("mine.toml", STUDY);
    let select = |arguments: &[&str]| {
        let run = ["study", "run", "mine.toml", "--out", "a"];
        folder.run(&[&run, arguments].concat())
    };
    select(&["--scheme", "ndn/one-pass/crc32c", "--repetitions", "2"]).ok();
    let records = std::fs::read_to_string(folder.path("a/records.csv")).unwrap();
    let schemes = records.lines().skip(1).filter_map(|line| line.split(',').nth(3));
    let others: Vec<&str> = schemes.filter(|scheme| !scheme.contains("one-pass/crc32c")).collect();
    // The probe's own cost, and the lengths of the encodings, are no schemes.
    let is_scheme = |id: &&str| id.contains('/') && !id.starts_with("empty/");
    assert!(!others.iter().any(is_scheme), "{others:?}");
    holds(&select(&["--scheme", "ndn/one-pas/crc32c"]).failed(), &["did you mean \"ndn/one-pass/crc32c\"?"]);
    holds(&select(&["--workload", "4Bx2"]).failed(), &["--workload: \"4Bx2\" is not in the study"]);
    holds(&select(&["--repetitions", "1"]).failed(), &["--repetitions: takes a number from 2 to 1000"]);
}

#[test]
fn compare_prints_ratios_and_why_there_is_no_verdict() {
    let folder = ran();
    let out = folder.run(&["compare", "a", "a"]).ok();
    holds(&out, &["mine · 3Bx2 · cycles_mean", "B / A from 1.000 to 1.000. Geometric mean", "No verdict: "]);
    folder.run(&["study", "run", "mine.toml", "--out", "b"]).ok();
    let out = folder.run(&["compare", "a", "b"]).ok();
    holds(&out, &["No verdict: A and B are separate runs."]);
    assert!(!out.contains("faster") && !out.contains("slower"), "{out}");
    let out = folder.run(&["compare", "a", "a", "--metric", "ratio"]).ok();
    holds(&out, &["ndn/one-pass/crc32c"]);
}

#[test]
fn the_step_of_the_counter_is_recorded_with_the_machine() {
    let folder = ran();
    let machine = std::fs::read_to_string(folder.path("a/machine.toml")).unwrap();
    let step = machine.lines().find_map(|line| line.strip_prefix("tsc_step = ")).unwrap();
    assert!(step.parse::<u64>().unwrap() >= 1, "{step}");
    assert!(std::fs::read_to_string(folder.path("a/report.html")).unwrap().contains("Step of the counter"));
}

#[test]
fn compare_lists_the_metrics() {
    let message = ran().run(&["compare", "a", "a", "--metric", "miles"]).failed();
    holds(&message, &["no metric \"miles\"", "cycles_mean, ", "cycles_stream"]);
}

#[test]
fn folders_without_records_are_refused() {
    let folder = ran();
    holds(&folder.run(&["compare", "a", "b"]).failed(), &["b has no records.csv", "study run"]);
    holds(&folder.run(&["report", "b"]).failed(), &["b has no records.csv"]);
    std::fs::remove_file(folder.path("a/machine.toml")).unwrap();
    holds(&folder.run(&["report", "a", "--study", "mine.toml"]).failed(), &["machine.toml"]);
}

#[test]
fn broken_records_are_refused() {
    let folder = ran();
    let whole = std::fs::read_to_string(folder.path("a/records.csv")).unwrap();
    let first = whole.lines().nth(1).unwrap();
    let again = format!("records.csv:{}: an earlier row has the same key", whole.lines().count() + 1);
    for (broken, says) in [
        (format!("{whole}{first}\n"), again.as_str()),
        (format!("{whole}mine,names\n"), "records.csv"),
        (whole.replacen("study,model", "model,study", 1), "records.csv"),
        (String::new(), "records.csv"),
    ] {
        folder.write("a/records.csv", broken);
        holds(&folder.run(&["compare", "a", "a"]).failed(), &[says]);
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_before_anything_is_measured() {
    let folder = Folder::new();
    folder.write("mine.toml", STUDY);
    folder.write("file", "in the way");
    for out in ["file", "file/below"] {
        let message = folder.run(&["study", "run", "mine.toml", "--out", out]).failed();
        holds(&message, &[&format!("cannot write results to {out}; name another folder with --out: ")]);
    }
    assert_eq!(std::fs::read_to_string(folder.path("file")).unwrap(), "in the way");
}
