// SPDX-License-Identifier: Apache-2.0

// The only difference between the programs of one test.

#include "ga_controllers/control_law.hpp"

namespace test {
ga_controllers::LawKind law_under_test() { return ga_controllers::LawKind::LAW_UNDER_TEST; }
}  // namespace test
