//! Prints the median of the numbers in its arguments, with the interval that bounds it.
//!
//! ```sh
//! cargo run -p hashlane-stats --example median -- 41 40.2 40.9 43.1 40.4 40.6 40.7
//! ```

use hashlane_stats::format::{figure, interval};
use hashlane_stats::median_interval;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<Vec<f64>, _>>()?;
    let median = median_interval(&numbers).ok_or("name some numbers, such as 41 40.2 40.9")?;
    println!("{} {}", figure(median.value), interval(median, figure));
    Ok(())
}
