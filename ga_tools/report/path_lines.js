// SPDX-License-Identifier: Apache-2.0
// Paths of many samples simplified to few line segments: each segment is expensive in a software renderer.
'use strict';

const PathLines = (() => {
  const DASH = 0.012; // m
  const GAP = 0.008;

  const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const between = (a, b, part) => a.map((v, k) => v + part * (b[k] - v));

  function distanceToSegment(point, a, b) {
    const along = minus(b, a);
    const length = dot(along, along);
    const part = length > 0 ? Math.min(Math.max(dot(minus(point, a), along) / length, 0), 1) : 0;
    return Math.hypot(...minus(point, between(a, b, part)));
  }

  // The corners of a path that stays within the tolerance of all points (Douglas and Peucker, 1973).
  function simplified(points, tolerance) {
    const kept = new Set([0, points.length - 1]);
    const spans = [[0, points.length - 1]];
    while (spans.length) {
      const [first, last] = spans.pop();
      let farthest = -1;
      let distance = tolerance;
      for (let i = first + 1; i < last; i++) {
        const d = distanceToSegment(points[i], points[first], points[last]);
        if (d > distance) [farthest, distance] = [i, d];
      }
      if (farthest < 0) continue;
      kept.add(farthest);
      spans.push([first, farthest], [farthest, last]);
    }
    return [...kept].sort((a, b) => a - b).map((i) => points[i]);
  }

  function segments(points) {
    return points.slice(1).map((point, i) => [points[i], point]);
  }

  function dashes(points) {
    const result = [];
    let traveled = 0; // within the dash and its gap
    segments(points).forEach(([a, b]) => {
      const length = Math.hypot(...minus(b, a));
      let at = 0;
      while (at < length) {
        const rest = (traveled < DASH ? DASH : DASH + GAP) - traveled;
        const step = Math.min(rest, length - at);
        if (traveled < DASH) result.push([between(a, b, at / length), between(a, b, (at + step) / length)]);
        at += step;
        traveled += step;
        if (traveled >= DASH + GAP - 1e-9) traveled = 0;
      }
    });
    return result;
  }

  return { simplified, segments, dashes };
})();
