// SPDX-License-Identifier: Apache-2.0

// The operation counts of the papers' tables, for general chains of revolute joints: twists,
// offsets and tensors without zeros, the first axis vertical.

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <random>

#include "ga_dynamics/algorithm/operation_count.hpp"
#include "ga_dynamics/chain.hpp"

namespace ga_dynamics {
namespace {

Chain general_chain(int n, const Vector3& gravity = {0, 0, -9.81}) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> value(0.11, 0.93);
  const auto next = [&] { return value(random); };
  std::vector<DhJoint> rows(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0) rows[i].dh = {next(), next(), next(), 0, 0};
    const double xy = 0.1 * next(), xz = 0.1 * next(), yz = 0.1 * next();
    rows[i].body = {1 + next(),
                    {next(), next(), next()},
                    {1 + next(), xy, xz, xy, 1 + next(), yz, xz, yz, 1 + next()}};
  }
  return Chain::from_dh(rows, gravity);
}

struct Row {
  const char* name;
  CountedAlgorithm algorithm;
  /// The papers' formulas.
  std::function<OperationCount(long)> printed;
  /// The smallest counts known before: the printed ones, or those of a careful evaluation with
  /// constants folded and dead operations left out, n >= 4.
  std::function<OperationCount(long)> best_known;
};

/// ½(a n² + b n + c), whole for the tables' formulas.
long half(long a, long b, long c, long n) { return (a * n * n + b * n + c) / 2; }

/// Mata et al. 2002, Table 3, corrected: a Cholesky decomposition has (n³−n)/6 sums, its solves n²
/// + n products.
OperationCount printed_forward(long n) {
  return {
      half(23, 39, -98, n) + 96 * n - 108 + (n * n * n - n) / 6 + n * (n - 1) / 2 + n + n * n + n,
      half(17, 63, -138, n) + 83 * n - 105 + (n * n * n - n) / 6 + n * n - n};
}

const Row kRows[] = {
    {"inverse dynamics, tensor", CountedAlgorithm::kTensor,
     [](long n) {
       return OperationCount{96 * n - 101, 84 * n - 100};
     },
     [](long n) {
       return OperationCount{96 * n - 110, 84 * n - 106};
     }},
    {"inverse dynamics, vector", CountedAlgorithm::kVector,
     [](long n) {
       return OperationCount{121 * n - 136, 91 * n - 116};
     },
     [](long n) {
       return OperationCount{117 * n - 138, 90 * n - 119};
     }},
    {"inverse dynamics, MLC", CountedAlgorithm::kMinimal,
     [](long n) {
       return OperationCount{89 * n - 82, 77 * n - 71};
     },
     [](long n) {
       return OperationCount{86 * n - 109, 74 * n - 100};
     }},
    {"bias", CountedAlgorithm::kBias,
     [](long n) {
       return OperationCount{96 * n - 108, 83 * n - 105};
     },
     [](long n) {
       return OperationCount{96 * n - 120, 83 * n - 117};
     }},
    {"inertia matrix", CountedAlgorithm::kInertia,
     [](long n) {
       return OperationCount{half(23, 39, -98, n), half(17, 63, -138, n)};
     },
     [](long n) {
       return OperationCount{half(23, 5, -62, n), half(17, 33, -98, n)};
     }},
    {"forward dynamics", CountedAlgorithm::kForward, printed_forward, printed_forward},
};

TEST(OperationCount, NoHigherThanThePapers) {
  std::printf("%-26s %3s   %-13s %-13s %s\n", "products / sums", "n", "counted", "printed",
              "first axis tilted");
  for (const Row& row : kRows) {
    for (int n = 2; n <= 12; ++n) {
      const OperationCount counted = count_operations(general_chain(n), row.algorithm);
      const OperationCount tilted = count_operations(general_chain(n, {2, 3, -9}), row.algorithm);
      const OperationCount printed = row.printed(n);
      std::printf("%-26s %3d   %5ld / %-5ld %5ld / %-5ld %5ld / %-5ld\n", row.name, n,
                  counted.products, counted.sums, printed.products, printed.sums, tilted.products,
                  tilted.sums);
      EXPECT_LE(counted.products, printed.products) << row.name << ", n = " << n;
      EXPECT_LE(counted.sums, printed.sums) << row.name << ", n = " << n;
      if (n < 3) continue;  // the papers' formulas hold from there, for a vertical first axis
      EXPECT_LE(tilted.products, printed.products) << row.name << ", tilted, n = " << n;
      EXPECT_LE(tilted.sums, printed.sums) << row.name << ", tilted, n = " << n;
    }
  }
}

TEST(OperationCount, NoHigherThanTheBestKnown) {
  for (const Row& row : kRows) {
    for (int n = 4; n <= 12; ++n) {
      const OperationCount counted = count_operations(general_chain(n), row.algorithm);
      const OperationCount best = row.best_known(n);
      EXPECT_LE(counted.products, best.products) << row.name << ", n = " << n;
      EXPECT_LE(counted.sums, best.sums) << row.name << ", n = " << n;
    }
  }
}

TEST(OperationCount, SixJointsExactly) {
  // Written down so that a change of an algorithm shows here.
  const Chain chain = general_chain(6);
  EXPECT_EQ(count_operations(chain, CountedAlgorithm::kTensor), (OperationCount{439, 377}));
  EXPECT_EQ(count_operations(chain, CountedAlgorithm::kVector), (OperationCount{555, 413}));
  EXPECT_EQ(count_operations(chain, CountedAlgorithm::kMinimal), (OperationCount{397, 334}));
  EXPECT_EQ(count_operations(chain, CountedAlgorithm::kBias), (OperationCount{428, 362}));
  EXPECT_EQ(count_operations(chain, CountedAlgorithm::kInertia), (OperationCount{398, 345}));
  EXPECT_EQ(count_operations(chain, CountedAlgorithm::kForward), (OperationCount{918, 778}));
  EXPECT_EQ(printed_forward(6), (OperationCount{1048, 884}));
}

TEST(OperationCount, CountsWhatReachesAnOutputAndNothingElse) {
  Counted::clear_tape();
  const Counted x = Counted::variable(), y = Counted::variable();
  const Counted unused = x * y + 3.0;
  static_cast<void>(unused);
  const Counted constant = Counted(2.0) * Counted(3.0) + 1.0;  // off-line
  const Counted out =
      constant * x + y * 1.0 + 0.0 * x - (-y) / 2.0;  // 1 product, 1 sum, 1 sum, 1 division
  EXPECT_EQ(Counted::reaching(&out, 1), (OperationCount{2, 2}));
}

}  // namespace
}  // namespace ga_dynamics
