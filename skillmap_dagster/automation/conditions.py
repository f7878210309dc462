"""When an asset is made anew without being asked."""

import dagster as dg

_CHECKS_PASSED = dg.AutomationCondition.all_checks_match(
    dg.AutomationCondition.check_passed() | dg.AutomationCondition.will_be_requested(),
    blocking_only=True,
)
# The tables over all partitions follow their inputs. Cells that nobody has results
# for, and what nobody has asked a model for, are missing for good: they do not hold the
# others back.
WHEN_INPUTS_CHANGE = (
    dg.AutomationCondition.eager().without(~dg.AutomationCondition.any_deps_missing())
    & dg.AutomationCondition.all_deps_match(
        _CHECKS_PASSED | dg.AutomationCondition.missing()
    )
).with_label("when its inputs change and pass their checks")
