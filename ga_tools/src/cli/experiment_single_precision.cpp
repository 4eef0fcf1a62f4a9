// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/experiments.hpp"
#include "cli/text_table.hpp"
#include "experiments/two_link.hpp"
#include "ga_dynamics/number.hpp"

namespace ga_tools::cli {

using namespace ga_dynamics;

std::string single_precision_text(const Told& told) {
  using namespace experiments::two_link;
  told("180 positions by 14 codings");
  const Table table = measure({}, 0);
  const Range cond = condition({});
  const auto show = [](double value, int digits = 3) { return number_text(value, digits); };

  TextTable text({"", "|double − single|, rad/s²", "max 1", "mean 1", "signed 1", "max 2", "mean 2",
                  "paper: max / average"},
                 1);
  for (std::size_t row = 0; row < kRows; ++row) {
    const Difference& d = table[row];
    text.add({"", kLabels[row].name, show(d.largest[0]), show(d.mean[0]), show(d.signed_mean[0], 2),
              show(d.largest[1]), show(d.mean[1]), kLabels[row].published});
  }

  const double ga = table[kGaPrinted].mean[0], aba = table[kAbaBase].mean[0];
  const double limit = table[kRoundedOnceSolvedInDouble].mean[0];
  return "  Links 0.02 m, 0.1 kg and 2 m, 10 kg; joint 2 through one turn in steps of 2°; "
         "condition of "
         "D " +
         show(cond.least, 4) + " to " + show(cond.largest, 4) + ".\n" + text.text() +
         "  Reproduced: the sizes of the maxima, and GA closer to double than CRBA about centres "
         "of "
         "mass.\n"
         "  " +
         (ga < aba ? "Reproduced" : "Not reproduced") +
         ": GA's average as the smallest. The mean of |double − single| is " + show(ga) +
         " for GA and " + show(aba) +
         "\n"
         "  for ABA; the paper prints 0.0087611 and 0.013240. Rounding D once to single precision, "
         "with\n"
         "  everything else exact, already costs " +
         show(limit) +
         ": no method that stores D reaches the printed average of GA.\n"
         "  That average has the size of a mean of signed differences; the whole study: "
         "doc/single_precision.md of the sources.\n"
         "  Not in the paper, and assumed: q1 = 0; the bars' moments of inertia (uniform bars).\n"
         "  Not in the paper, and decisive for the digits: the coding of the ABA, the processor's "
         "intermediate precision.\n";
}

}  // namespace ga_tools::cli
