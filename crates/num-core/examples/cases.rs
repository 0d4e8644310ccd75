use netnum_core::*;
use std::collections::BTreeMap;
fn main() {
    let tol: f64 = std::env::args().nth(1).map_or(1e-9, |t| t.parse().unwrap());
    let method = std::env::args().nth(2).unwrap_or("fast-ned".into());
    let mut names: Vec<_> =
        std::fs::read_dir("crates/num-core/tests/cases").unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    if let Some(f) = std::env::args().nth(3) {
        names.retain(|n| n.to_string_lossy().contains(&f));
    }
    for path in names {
        let text = std::fs::read_to_string(&path).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let p = Problem::from_json(&text).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().to_string();
        match Solver::new(&p, &method, &BTreeMap::new()) {
            Err(e) => println!("{name:36} {e}"),
            Ok(mut s) => {
                let r = s.run(&Settings { tol, max_iterations: 10000, ..Default::default() }, &mut ()).unwrap();
                let o = value["expected"]["objective"].as_f64().unwrap();
                let sc = value["expected"]["objective_scale"].as_f64().unwrap();
                println!(
                    "{name:36} {:?} it {:6} gap {:9.2e} kkt {:8.1e} over {:8.1e} obj err {:9.2e}  {:.2} ms",
                    r.status,
                    r.iterations,
                    r.certificate.relative_gap,
                    r.certificate.kkt_residual,
                    r.certificate.overload,
                    (o - r.objective) / sc,
                    r.seconds * 1e3
                );
            }
        }
    }
}
