//! Prints what is read of a record, to inspect it and to measure: `record FILE [NUMBER]`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(file) = args.next() else { return ExitCode::from(2) };
    let number = args.next().and_then(|number| number.parse().ok());
    match firstflight_record::open(Path::new(&file), number) {
        Ok(recorded) => {
            let connection = &recorded.connection;
            println!(
                "{} {}, {} of {}",
                recorded.form.name(),
                connection.title,
                recorded.number,
                recorded.all.len()
            );
            println!(
                "taken {:?}, mss {:?}, udp {}, truncated {}",
                recorded.taken, recorded.mss, recorded.udp, recorded.truncated
            );
            println!("hidden {:?}", connection.hidden);
            println!("skipped {:?}", recorded.skipped);
            println!("{:#?}", connection.summary);
            for limited in connection.limits.intervals().iter().take(20) {
                println!("{limited:?}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
