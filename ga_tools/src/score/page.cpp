// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "report/version.hpp"
#include "score/output.hpp"

namespace ga_tools::score {

namespace {

constexpr const char* kColors[] = {"#0060a8", "#d2691e", "#2e8b57", "#8b2e8b",
                                   "#666666", "#c00000", "#008b8b", "#b8860b"};
constexpr double kWidth = 560, kHeight = 130;  // of a plot, px
constexpr double kLeast = 1e-3;                // mm, lower end of the plots

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Law score</title><style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5rem auto; max-width: 75rem; padding: 0 1rem; }
section { border-top: 1px solid #ccc; padding: .6rem 0; display: grid; grid-template-columns: 1fr auto; gap: 1rem; }
h2 { font-size: 1rem; margin: 0; grid-column: 1 / -1; }
table { border-collapse: collapse; align-self: start; }
th, td { padding: .15rem .6rem; text-align: right; border-bottom: 1px solid #eee; }
th:first-child { text-align: left; }
.best { font-weight: bold; } .failed { color: #c00000; }
code { background: #f3f3f3; padding: .1rem .3rem; }
</style></head><body><h1>Law score</h1>
)";

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

template <class... Values>
std::string format(const char* pattern, const Values&... values) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, pattern, values...);
  return buffer;
}

std::string number(double value) {
  return std::isfinite(value) ? format("%.3g", value) : std::string("–");
}

/// The smallest value of a row's figure among its laws.
double best_of(const Score& score, std::size_t row, Figure figure) {
  double best = INFINITY;
  for (std::size_t l = 0; l < score.laws.size(); ++l) {
    const double value = score.cell(row, l).figures[figure];
    if (value < best) best = value;
  }
  return best;
}

std::string table(const Score& score, std::size_t r) {
  const Scenario& row = *score.rows[r];
  std::string text = "<table><tr><th>law</th>";
  for (const Figure figure : row.figures) {
    const FigureKind& kind = kind_of(figure);
    text += format("<th title=\"%s\">%s, %s</th>", kind.meaning, kind.label, kind.unit);
  }
  text += "<th>not ok</th></tr>";
  for (std::size_t l = 0; l < score.laws.size(); ++l) {
    const Cell& cell = score.cell(r, l);
    text +=
        format("<tr><th style=\"color:%s\">%s</th>", kColors[l % std::size(kColors)], cell.law->id);
    for (const Figure figure : row.figures) {
      const double value = cell.figures[figure];
      const bool best = value == best_of(score, r, figure);
      text += format("<td%s>%s</td>", best ? " class=\"best\"" : "", number(value).c_str());
    }
    const auto failed = std::find_if(cell.runs.begin(), cell.runs.end(),
                                     [](const Run& run) { return run.state != "ok"; });
    if (failed == cell.runs.end()) {
      text += "<td></td></tr>";
    } else {
      text += "<td class=\"failed\" title=\"" + escaped(failed->state) + "\">" +
              format("%zu of %zu</td></tr>", cell.failed, cell.runs.size());
    }
  }
  return text + "</table>";
}

/// Tool error of the first seed over time, logarithmic.
std::string plot(const Score& score, std::size_t r) {
  double end = 0, most = 10 * kLeast;
  for (std::size_t l = 0; l < score.laws.size(); ++l) {
    const Run& run = score.cell(r, l).runs.front();
    end = std::max(end, run.time.back());
    for (const double error : run.error) {
      if (std::isfinite(error)) most = std::max(most, error);
    }
  }
  const double decades = std::ceil(std::log10(most / kLeast));
  const auto y_of = [decades](double error) {
    const double share = std::log10(std::max(error, kLeast) / kLeast) / decades;
    return kHeight * (1 - std::min(share, 1.0));
  };
  std::string text = format("<svg width=\"%g\" height=\"%g\" viewBox=\"-52 -8 %g %g\">",
                            kWidth + 60, kHeight + 32, kWidth + 60, kHeight + 32);
  for (double d = 0; d <= decades; ++d) {
    const double error = kLeast * std::pow(10, d), y = y_of(error);
    text += format("<path d=\"M0 %.1fH%g\" stroke=\"#ddd\"/>", y, kWidth);
    text += format("<text x=\"-5\" y=\"%.1f\" text-anchor=\"end\" font-size=\"10\">%g</text>",
                   y + 3, error);
  }
  text += format("<text x=\"%g\" y=\"%g\" text-anchor=\"end\" font-size=\"10\">%g s</text>", kWidth,
                 kHeight + 14, end);
  text += format("<text x=\"0\" y=\"%g\" font-size=\"10\">tool error, mm, first seed</text>",
                 kHeight + 14);
  for (std::size_t l = 0; l < score.laws.size(); ++l) {
    const Run& run = score.cell(r, l).runs.front();
    text += "<polyline fill=\"none\" stroke-width=\"1.2\" stroke=\"" +
            std::string(kColors[l % std::size(kColors)]) + "\" points=\"";
    for (std::size_t k = 0; k < run.time.size(); ++k) {
      if (!std::isfinite(run.error[k])) break;
      text += format("%.1f,%.1f ", kWidth * run.time[k] / end, y_of(run.error[k]));
    }
    text += "\"/>";
  }
  return text + "</svg>";
}

std::string legend() {
  std::string text = "<h2>Figures</h2><ul>";
  for (const FigureKind& kind : figure_kinds()) {
    text += format("<li><b>%s</b> [%s]: %s; %s of the seeds</li>", kind.label, kind.unit,
                   kind.meaning, kind.mean ? "mean" : "worst");
  }
  return text + "</ul>";
}

}  // namespace

std::string page(const Score& score, const std::string& command) {
  std::string text = kHead;
  text += "<p><code>" + escaped(command) + "</code>, ga_tools " + escaped(version()) + ", " +
          format(
              "%u seeds, %g Hz, bandwidth %g rad/s. Lower is better; the best of each column is "
              "bold.</p>",
              score.seeds, kRate, kBandwidth);
  for (std::size_t r = 0; r < score.rows.size(); ++r) {
    text += format("<section><h2>%s: %s</h2>", score.rows[r]->id, score.rows[r]->title);
    text += table(score, r) + plot(score, r) + "</section>\n";
  }
  return text + legend() + "</body></html>\n";
}

}  // namespace ga_tools::score
