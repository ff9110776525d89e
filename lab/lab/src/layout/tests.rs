use super::*;
use crate::report::sample;
use crate::report::{BarPlots, Table};

/// The sample study with this layout.
fn study(layout: &str) -> Result<Definition, DefinitionError> {
    let text = sample::definition().text().replace("[[chart]]", "[[unused]]");
    let cut = text.find("[[unused]]").unwrap_or(text.len());
    let definition = Definition::parse(&format!("{}\n{layout}", &text[..cut]), "study.toml")?;
    check(&definition, &Values::new())?;
    Ok(definition)
}

fn sections(layout: &str) -> Vec<Section> {
    let definition = study(layout).unwrap();
    let records = sample::records(&definition, &[]);
    Drawer::new(&definition.layout, &definition, &records, &Values::new()).sections()
}

#[test]
fn draws_bars() {
    let section = sections(
        "[[section]]\ntitle = \"T\"\n[[chart]]\ndraws = \"bars\"\naxis = \"a\"\nitems = \"schemes_on('12Bx5')\"\n\
         value = \"of('12Bx5', item, study.metric)\"\nfigure = \"{{ value|figure }}\"",
    );
    let Some(Block::Bars(BarPlots { plots, .. })) = section[0].blocks.first() else { panic!("{section:?}") };
    assert!(!plots[0].groups[0].bars.is_empty());
}
