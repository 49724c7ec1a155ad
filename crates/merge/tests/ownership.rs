//! Who owns what after sequences of updates and applies.
//!
//! The scenarios cover nested types, several appliers, leaves, keys, sets, duplicates, default keys, deduced types, unknown
//! fields, schema changes, ignored fields and extraction. What is expected of each was recorded from the reference
//! implementation, apimachinery `util/managedfields` over structured-merge-diff v6.

mod scenario;

use serde_json::Value;

#[test]
fn every_scenario_ends_as_in_the_reference_implementation() {
    let scenarios = include_str!("data/ownership.jsonl").lines();
    for (number, line) in scenarios.enumerate() {
        let scenario: Value = serde_json::from_str(line).expect("a scenario is JSON");
        let results = Value::Array(scenario::run(&scenario));
        assert_eq!(
            results,
            scenario["expected"],
            "scenario {} ({})",
            number + 1,
            scenario["topic"]
        );
    }
}
