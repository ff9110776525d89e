//! The folder of results: written, drawn again, compared.

use crate::support::{Folder, STUDY, holds};

/// A folder in which the study has run.
fn ran() -> Folder {
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
    let out = folder.run(&["report", "a", "--study", "mine.toml"]).ok();
    holds(&out, &["3Bx2", "report: a/report.html"]);
    assert!(std::fs::read(&page).unwrap() == first);
}

#[test]
fn report_asks_for_the_file_of_a_study_of_one_s_own() {
    holds(&ran().run(&["report", "a"]).failed(), &["no study \"mine\"", "name its file with --study"]);
}

#[test]
fn compare_prints_ratios_and_why_there_is_no_verdict() {
    let folder = ran();
    let out = folder.run(&["compare", "a", "a"]).ok();
    holds(&out, &["mine · 3Bx2 · cycles_mean", "median 1.000", "No verdict: A and B are separate runs."]);
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
    for (broken, says) in [
        (format!("{whole}{first}\n"), "records.csv:29: an earlier row has the same key"),
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
