//! How many machines a set has if nobody says so: what an autoscaler's bounds ask for, else one.

use std::collections::BTreeMap;

use capstan_base::field::{Error, Path};

use crate::well_known::annotation::{AUTOSCALER_MAX_SIZE, AUTOSCALER_MIN_SIZE};

/// The replicas of a set that leaves them out, given its annotations and, on an update, its replicas before.
///
/// With both bounds of an autoscaler the number is brought between them, since the autoscaler takes over only there: a
/// new set begins with the lower bound. Without them the answer is one.
// Parity: cluster-api core/webhooks/admission/machinedeployment.go:calculateMachineDeploymentReplicas
pub(super) fn defaulted(
    annotations: &BTreeMap<String, String>,
    is_update: bool,
    before: Option<i32>,
) -> Result<i32, Vec<Error>> {
    let (Some(minimum), Some(maximum)) = (
        annotations.get(AUTOSCALER_MIN_SIZE),
        annotations.get(AUTOSCALER_MAX_SIZE),
    ) else {
        return Ok(1);
    };
    let minimum = parse(AUTOSCALER_MIN_SIZE, minimum)?;
    let maximum = parse(AUTOSCALER_MAX_SIZE, maximum)?;
    match before.filter(|_| is_update) {
        None => Ok(minimum),
        Some(before) if before < minimum => Ok(minimum),
        Some(before) if before > maximum => Ok(maximum),
        Some(before) => Ok(before),
    }
}

fn parse(key: &str, text: &str) -> Result<i32, Vec<Error>> {
    let path = Path::new("metadata.annotations").key(key);
    text.parse()
        .map_err(|_| vec![Error::invalid(&path, text, "must be a 32-bit integer")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_autoscalers_bounds_decide_what_is_left_out() {
        let bounds = BTreeMap::from([
            (AUTOSCALER_MIN_SIZE.to_owned(), "3".to_owned()),
            (AUTOSCALER_MAX_SIZE.to_owned(), "5".to_owned()),
        ]);
        for (annotations, is_update, before, replicas) in [
            (&BTreeMap::new(), false, None, 1),
            (&BTreeMap::new(), true, Some(4), 1),
            (&bounds, false, None, 3),
            (&bounds, true, None, 3),
            (&bounds, true, Some(1), 3),
            (&bounds, true, Some(9), 5),
            (&bounds, true, Some(4), 4),
        ] {
            assert_eq!(
                defaulted(annotations, is_update, before),
                Ok(replicas),
                "{before:?}"
            );
        }
    }

    #[test]
    fn a_bound_that_is_no_number_is_refused() {
        let bounds = BTreeMap::from([
            (AUTOSCALER_MIN_SIZE.to_owned(), "few".to_owned()),
            (AUTOSCALER_MAX_SIZE.to_owned(), "5".to_owned()),
        ]);
        let errors = defaulted(&bounds, false, None).expect_err("no number");
        assert_eq!(
            errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "metadata.annotations[cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size]: Invalid value: \
              \"few\": must be a 32-bit integer"
            ]
        );
    }
}
