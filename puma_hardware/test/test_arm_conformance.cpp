// SPDX-License-Identifier: Apache-2.0
// PumaSystem in the suites of every ArmSystem.

#include "arm_bench.hpp"
#include "arm_system_suite.hpp"
#include "effort_switch_suite.hpp"

namespace test {

INSTANTIATE_TYPED_TEST_SUITE_P(OverTheCards, ArmSystemSuite, ArmBench);
INSTANTIATE_TYPED_TEST_SUITE_P(OverTheCards, EffortSwitches, ArmBench);

}  // namespace test
