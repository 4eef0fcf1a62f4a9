# SPDX-License-Identifier: Apache-2.0
"""Made-up data for a report: a PUMA-like arm of primitives, four runs along one motion.

`python3 report_sample.py DATA.json` writes them as a file. The errors and torques are formulas, not
a simulation: they look like one, and they are the same every time.
"""

import json
import math
import random
import sys

DURATION, RATE, FRAME_RATE = 9.0, 200, 50
JOINTS = [  # name, lower, upper (rad), torque limit (N·m)
    ('joint1', -2.793, 2.793, 97.6), ('joint2', -3.892, 0.750, 186.4),
    ('joint3', -0.698, 4.189, 89.4), ('joint4', -2.269, 3.142, 24.2),
    ('joint5', -1.745, 1.745, 20.1), ('joint6', -4.643, 4.643, 21.3)]
# The modified Denavit-Hartenberg frames of Armstrong, Khatib and Burdick: origin and roll.
FRAMES = [((0, 0, 0), 0), ((0, 0.2435, 0), -math.pi / 2), ((0.4318, 0, -0.0934), 0),
          ((-0.0203, -0.4331, 0), math.pi / 2), ((0, 0, 0), -math.pi / 2),
          ((0, 0, 0), math.pi / 2)]
TOOL = (0, 0, 0.13)
START = [0.35, -0.75, 2.55, 0.2, 0.55, 0.1]
GOAL = [1.45, -0.15, 3.05, -0.4, -0.35, -0.5]
BODY, JOINT, TIP = (0.91, 0.90, 0.87, 1), (0.28, 0.30, 0.34, 1), (0.85, 0.47, 0.10, 1)
RUNS = [  # id, label, error scale (rad), sag, noise
    ('ptp', 'Point to point', 9e-3, 0.6, 1.0), ('tracking', 'Tracking', 9e-4, 0.5, 1.0),
    ('integral', 'Tracking with integral', 2e-4, 0.0, 1.0),
    ('pd', 'Joint PD, no model', 3e-2, 1.0, 1.0)]


def product(a, b):
    """Composes two poses, each a rotation (three rows) and an origin."""
    (ra, pa), (rb, pb) = a, b
    rotation = [[sum(ra[i][k] * rb[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    return rotation, [pa[i] + sum(ra[i][k] * pb[k] for k in range(3)) for i in range(3)]


def roll(angle):
    c, s = math.cos(angle), math.sin(angle)
    return [[1, 0, 0], [0, c, -s], [0, s, c]]


def yaw(angle):
    c, s = math.cos(angle), math.sin(angle)
    return [[c, -s, 0], [s, c, 0], [0, 0, 1]]


def quaternion(r):
    """x, y, z, w of a rotation matrix."""
    w = math.sqrt(max(0.0, 1 + r[0][0] + r[1][1] + r[2][2])) / 2
    if w > 0.1:
        return [(r[2][1] - r[1][2]) / (4 * w), (r[0][2] - r[2][0]) / (4 * w),
                (r[1][0] - r[0][1]) / (4 * w), w]
    i = max(range(3), key=lambda k: r[k][k])
    j, k = (i + 1) % 3, (i + 2) % 3
    v = math.sqrt(1 + r[i][i] - r[j][j] - r[k][k]) / 2
    result = [0.0] * 4
    result[i] = v
    result[j], result[k] = (r[j][i] + r[i][j]) / (4 * v), (r[k][i] + r[i][k]) / (4 * v)
    result[3] = (r[k][j] - r[j][k]) / (4 * v)
    return result


def link_poses(q):
    pose = ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0])
    poses = [pose]
    for (origin, angle), position in zip(FRAMES, q):
        pose = product(pose, (roll(angle), list(origin)))
        pose = product(pose, (yaw(position), [0, 0, 0]))
        poses.append(pose)
    return poses


def tool_position(q):
    rotation, origin = link_poses(q)[-1]
    return [origin[i] + sum(rotation[i][k] * TOOL[k] for k in range(3)) for i in range(3)]


def shape(kind, color, position, turn=(0, 0, 0, 1), **size):
    return {'type': kind, 'pose': [*position, *turn], 'color': color, **size}


def links():
    half = math.sqrt(0.5)
    along_y, along_x = (half, 0, 0, half), (0, half, 0, half)
    flange = [-.03, -.03, 0, .03, -.03, 0, .03, .03, 0, -.03, .03, 0, 0, 0, .07]
    visuals = [
        [shape('box', JOINT, (0, 0, -0.65), size=[0.36, 0.36, 0.03]),
         shape('cylinder', BODY, (0, 0, -0.385), radius=0.09, length=0.5)],
        [shape('cylinder', JOINT, (0, 0, -0.115), radius=0.095, length=0.04),
         shape('cylinder', BODY, (0, 0.02, 0), along_y, radius=0.11, length=0.26)],
        [shape('cylinder', JOINT, (0, 0, -0.07), radius=0.1, length=0.03),
         shape('box', BODY, (0.18, 0, 0), size=[0.56, 0.19, 0.11]),
         shape('cylinder', JOINT, (0.4318, 0, -0.055), radius=0.07, length=0.02)],
        [shape('cylinder', BODY, (0, 0, 0), radius=0.075, length=0.09),
         shape('box', BODY, (-0.01, -0.17, 0), size=[0.1, 0.34, 0.085])],
        [shape('cylinder', JOINT, (0, 0, -0.05), radius=0.036, length=0.09)],
        [shape('sphere', BODY, (0, 0, 0), radius=0.042)],
        [shape('cylinder', JOINT, (0, 0, 0.045), radius=0.028, length=0.02),
         shape('cylinder', JOINT, (0, 0, 0.05), along_x, radius=0.006, length=0.07),
         shape('mesh', TIP, (0, 0, 0.06), vertices=flange,
               triangles=[0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4, 0, 2, 1, 0, 3, 2])]]
    names = ['base_link'] + [f'link{i}' for i in range(1, 7)]
    return [{'name': name, 'visuals': shapes} for name, shapes in zip(names, visuals)]


def quintic(t):
    """Blend and its first two derivatives: at rest until 0.5 s and after 7.5 s."""
    s = min(max((t - 0.5) / 7.0, 0.0), 1.0)
    return (s ** 3 * (10 - 15 * s + 6 * s * s), 30 * s * s * (1 - s) ** 2 / 7.0,
            60 * s * (1 - s) * (1 - 2 * s) / 49.0)


def make_run(identifier, label, scale, sag, noise, reference_run):
    noise_of = random.Random(identifier)
    time = [i / RATE for i in range(round(DURATION * RATE) + 1)]
    columns = {'q': [], 'q_ref': [], 'error': [], 'tau': []}
    blends = [quintic(t) for t in time]
    for j, (_, _, _, limit) in enumerate(JOINTS):
        travel = GOAL[j] - START[j]
        reference = [START[j] + travel * b[0] for b in blends]
        error = [scale * (travel * (-2.2 * b[1] + 0.5 * math.sin(3 * t + j) * b[1])
                          + sag * 0.2 * math.cos(ref) + noise * 4e-3 * noise_of.gauss(0, 1))
                 for t, b, ref in zip(time, blends, reference)]
        gravity = [0, -0.24, -0.1, 0, -0.02, 0][j] * limit
        tau = [max(-limit, min(limit, gravity * math.cos(ref) + limit * (
            1.4 * travel * b[1] + 3.5 * travel * b[2] + 0.003 * noise_of.gauss(0, 1))))
            for b, ref in zip(blends, reference)]
        if identifier == 'pd' and j == 3:  # one run that meets its limit
            tau = [-limit if 3.8 < t < 4.3 else value for t, value in zip(time, tau)]
        columns['q_ref'].append([round(v, 6) for v in reference])
        columns['q'].append([round(r + e, 6) for r, e in zip(reference, error)])
        columns['error'].append([round(e, 8) for e in error])
        columns['tau'].append([round(v, 2) for v in tau])

    def tool(rows):
        points = [tool_position(q) for q in zip(*rows)]
        return [[round(p[i], 6) for p in points] for i in range(3)]

    every = RATE // FRAME_RATE
    frames = {'time': time[::every], 'poses': []}
    for i in range(0, len(time), every):
        flat = []
        for rotation, origin in link_poses([row[i] for row in columns['q']]):
            flat += [round(v, 5) for v in origin] + [round(v, 5) for v in quaternion(rotation)]
        frames['poses'].append(flat)

    result = {'id': identifier, 'label': label, 'time': time, **columns, 'tool': tool(columns['q']),
              'frames': frames, 'events': [{'t': 0.5, 'text': 'motion starts'},
                                           {'t': 7.5, 'text': 'motion ends'}]}
    result['verdict'] = {'state': 'ok'}
    if identifier == 'pd':
        result['verdict'] = {'state': 'oscillating', 'joint': 'joint4', 'time': 7.8,
                             'reason': "joint 'joint4' oscillates"}
        result['events'].append({'t': 3.8, 'text': 'joint4 reaches its torque limit'})
    if reference_run is None:
        result['tool_ref'] = tool(columns['q_ref'])
    else:
        result['reference_run'] = reference_run
        del result['q_ref']
    return result


def table(runs):
    columns = [
        {'key': 'rms', 'label': 'Joint error, RMS', 'unit': 'mrad', 'digits': 4},
        {'key': 'max', 'label': 'Joint error, max', 'unit': 'mrad', 'digits': 4},
        {'key': 'torque', 'label': 'Torque used, max', 'unit': '% of limit', 'digits': 1},
        {'key': 'compute', 'label': 'Law, mean', 'unit': 'µs', 'digits': 2},
        {'key': 'saturated', 'label': 'Time at limit', 'unit': 's', 'digits': 2, 'better': 'none'},
        {'key': 'state', 'label': 'State', 'better': 'none'}]
    rows = []
    for n, run in enumerate(runs):
        errors = [e * 1e3 for row in run['error'] for e in row]
        use = [abs(v) / joint[3] for row, joint in zip(run['tau'], JOINTS) for v in row]
        rows.append({'run': run['id'], 'rms': math.sqrt(sum(e * e for e in errors) / len(errors)),
                     'max': max(abs(e) for e in errors), 'torque': 100 * max(use),
                     'compute': [2.11, 2.24, 2.31, 0.06][n],
                     'saturated': 0.5 if run['id'] == 'pd' else 0,
                     'state': run['verdict']['state']})
    return {'columns': columns, 'rows': rows}


def made_with():
    names = [joint[0] for joint in JOINTS]
    return {
        'command': 'ga sim puma560.urdf --ki 200000 --output "a folder"',
        'version': '0.1.0 (0123abc)',
        'robot': {'file': 'puma560.urdf', 'sha256': 64 * 'e', 'base': 'base_link', 'tip': 'tool0',
                  'joints': names, 'gravity': [0, 0, -9.81]},
        'laws': [run[0] for run in RUNS], 'rate': 1000, 'seed': 1,
        'motion': {'name': 'line', 'description': 'straight', 'duration': 7.5, 'settle': 1.5},
        'gains': [{'joint': name, 'kp': 1600, 'kd': 80, 'ki': 200000} for name in names],
        'friction_feed_forward': 1,
        'signals': [{'joint': name, 'counts_per_rad': 17143, 'torque_per_volt': 18.64}
                    for name in names],
        'unknown_to_the_laws': {
            'payload': 2.5, 'mismatch': 0.02, 'stiction': 1, 'noise': 0,
            'body_factors': [{'joint': name, 'mass': 0.98, 'inertia': 1.02} for name in names]}}


def sample_report():
    runs = [make_run(*run, reference_run=RUNS[0][0] if i else None) for i, run in enumerate(RUNS)]
    joints = [{'name': name, 'unit': 'rad', 'lower': lower, 'upper': upper, 'effort_limit': effort}
              for name, lower, upper, effort in JOINTS]
    return {
        'title': 'PUMA 560: a sample motion under four laws',
        'subtitle': '1 kHz loop, 12-bit DAC, encoder counts, friction known, no payload',
        'generated': 'sample data, seed 1',
        'notes': ['Sample data: formulas that look like a simulation.',
                  'Text is shown as text: </script> <b>not bold</b> <!-- \u2028 & so on.'],
        'robot': {'name': 'puma560', 'joints': joints, 'links': links()},
        'runs': runs, 'table': table(runs), 'made_with': made_with()}


if __name__ == '__main__':
    with open(sys.argv[1], 'w', encoding='utf-8') as file:
        json.dump(sample_report(), file, ensure_ascii=False, separators=(',', ':'))
