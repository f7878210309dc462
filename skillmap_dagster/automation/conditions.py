"""When an asset is made anew without being asked."""

import dagster as dg

# The tables over all partitions follow their inputs. Cells that nobody has results
# for are missing for good, so a missing input does not hold them back.
WHEN_INPUTS_CHANGE = (
    dg.AutomationCondition.eager().without(~dg.AutomationCondition.any_deps_missing())
    & dg.AutomationCondition.all_deps_blocking_checks_passed()
).with_label("when its inputs change and pass their checks")
