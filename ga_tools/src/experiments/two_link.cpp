// SPDX-License-Identifier: Apache-2.0
#include "experiments/two_link.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/reference/aba.hpp"
#include "experiments/reference/crba.hpp"
#include "experiments/reference/gibbs_appell.hpp"
#include "ga_dynamics/algorithm/forward_dynamics.hpp"

namespace ga_tools::experiments::two_link {

using namespace ga_dynamics;
namespace {

using namespace reference;

template <class To, class From>
Values<To> convert(const Values<From>& from) {
  Values<To> to;
  for (const From& v : from) to.push_back(static_cast<To>(v));
  return to;
}

/// The arm in single precision, for every row of the table.
class SingleArm {
 public:
  explicit SingleArm(const Chain& chain)
      : reference_(make_reference<float>(chain)),
        exact_(make_reference<double>(chain)),
        model_(make_model<float>(chain)),
        work_(model_) {}

  Values<float> accelerations(Row row, const Values<float>& q) {
    const Values<float> rest(2), tau(2);
    switch (row) {
      case kAbaBase:
        return aba_base_frame(reference_, q, rest, tau, Division::kOfProduct);
      case kAbaBaseFactor:
        return aba_base_frame(reference_, q, rest, tau, Division::kOfFactor);
      case kAbaBaseAxes:
        return aba_about_links(reference_, q, rest, tau, Axes::kBase, Division::kOfProduct);
      case kAbaLink:
        return aba_about_links(reference_, q, rest, tau, Axes::kLink, Division::kOfProduct);
      case kAbaLinkFactor:
        return aba_about_links(reference_, q, rest, tau, Axes::kLink, Division::kOfFactor);
      case kCrbaCom:
        return solve_motion(inertia_crba_com(reference_, q), bias_about_com(reference_, q, rest),
                            tau);
      case kCrbaSpatial:
        return solve_motion(inertia_crba_spatial(reference_, q), bias_spatial(reference_, q, rest),
                            tau);
      case kGaPrinted:
        return solve_motion(inertia_gah_printed(reference_, q), bias_about_com(reference_, q, rest),
                            tau);
      case kGa: {
        Values<float> inertia(4);
        inertia_matrix(model_, work_, q.data(), inertia.data());
        return solve_motion(inertia, library_bias(q), tau);
      }
      case kGaCholesky: {
        Values<float> qdd(2);
        forward_dynamics(model_, work_, q.data(), rest.data(), tau.data(), qdd.data());
        return qdd;
      }
      case kRoundedOnce:
        return solve_motion(convert<float>(exact_inertia(q)), convert<float>(exact_bias(q)), tau);
      case kRoundedOnceSolvedInDouble:
        return solved_in_double(convert<double>(convert<float>(exact_inertia(q))),
                                convert<double>(convert<float>(exact_bias(q))));
      case kRoundedAtWill:
        return best_of_all_roundings(q);
      case kExactInertia:
        return solved_in_double(exact_inertia(q), convert<double>(library_bias(q)));
      case kRows:
        break;
    }
    return {};
  }

 private:
  Values<float> library_bias(const Values<float>& q) {
    const Values<float> rest(2);
    Values<float> h(2);
    bias(model_, work_, q.data(), rest.data(), h.data());
    return h;
  }
  Values<double> exact_inertia(const Values<float>& q) const {
    return inertia_gah_printed(exact_, convert<double>(q));
  }
  Values<double> exact_bias(const Values<float>& q) const {
    return bias_about_com(exact_, convert<double>(q), {0, 0});
  }
  /// Each entry of D rounded up or down, whichever gives the best result: a lower bound on the error
  /// of storing D in single precision, for any algorithm.
  Values<float> best_of_all_roundings(const Values<float>& q) const {
    const Values<double> d = exact_inertia(q), h = exact_bias(q);
    const Values<double> exact = solve_motion(d, h, {0, 0});
    Values<double> best(2);
    for (unsigned choice = 0; choice < 8; ++choice) {
      const auto rounded = [&](std::size_t entry, unsigned bit) {
        const float nearest = static_cast<float>(d[entry]);
        const bool is_above = static_cast<double>(nearest) > d[entry], up = (choice >> bit) & 1u;
        if (is_above == up) return static_cast<double>(nearest);
        return static_cast<double>(std::nextafter(nearest, up ? 100.0f : 0.0f));
      };
      const double d12 = rounded(1, 1);
      const Values<double> qdd = solve_motion({rounded(0, 0), d12, d12, rounded(3, 2)}, h, {0, 0});
      if (choice == 0 || std::abs(qdd[0] - exact[0]) < std::abs(best[0] - exact[0])) best = qdd;
    }
    return convert<float>(best);
  }
  static Values<float> solved_in_double(const Values<double>& d, const Values<double>& h) {
    return convert<float>(solve_motion(d, h, {0, 0}));
  }

  ReferenceChain<float> reference_;
  ReferenceChain<double> exact_;  ///< the single-precision constants, for arithmetic in double
  Model<float> model_;
  Workspace<float> work_;
};

}  // namespace

Table measure(const Dimensions& dimensions, int degrees1) {
  SingleArm single(make_chain<float>(dimensions));
  const auto model = make_model<double>(make_chain<double>(dimensions));
  Workspace<double> work(model);
  Table table(kRows);
  for (int k = 0; k < kPositions; ++k) {
    const Values<double> q{radians<double>(degrees1), radians<double>(2 * k)}, zero(2);
    const Values<float> q_single{radians<float>(degrees1), radians<float>(2 * k)};
    Values<double> exact(2);
    forward_dynamics(model, work, q.data(), zero.data(), zero.data(), exact.data());
    for (int row = 0; row < kRows; ++row) {
      Difference& to = table[static_cast<std::size_t>(row)];
      const Values<float> qdd = single.accelerations(static_cast<Row>(row), q_single);
      for (std::size_t i = 0; i < 2; ++i) {
        const double difference = exact[i] - static_cast<double>(qdd[i]);
        to.largest[i] = std::max(to.largest[i], std::abs(difference));
        to.mean[i] += std::abs(difference) / kPositions;
        to.signed_mean[i] += difference / kPositions;
      }
    }
  }
  return table;
}

Range condition(const Dimensions& dimensions) {
  const auto model = make_model<double>(make_chain<double>(dimensions));
  Workspace<double> work(model);
  Range to{std::numeric_limits<double>::infinity(), 0};
  for (int k = 0; k < kPositions; ++k) {
    const Values<double> q{0, radians<double>(2 * k)};
    Values<double> d(4);
    inertia_matrix(model, work, q.data(), d.data());
    const double determinant = d[0] * d[3] - d[1] * d[2], half_trace = (d[0] + d[3]) / 2;
    const double largest = half_trace + std::sqrt(half_trace * half_trace - determinant);
    to.least = std::min(to.least, largest * largest / determinant);
    to.largest = std::max(to.largest, largest * largest / determinant);
  }
  return to;
}

}  // namespace ga_tools::experiments::two_link
