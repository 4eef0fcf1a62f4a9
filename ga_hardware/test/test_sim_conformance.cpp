// SPDX-License-Identifier: Apache-2.0
// SimSystem in the suites of every ArmSystem.

#include "arm_system_suite.hpp"
#include "effort_switch_suite.hpp"

namespace test {

INSTANTIATE_TYPED_TEST_SUITE_P(Simulated, ArmSystemSuite, SimLawBench);
INSTANTIATE_TYPED_TEST_SUITE_P(Simulated, EffortSwitches, SimLawBench);

}  // namespace test
