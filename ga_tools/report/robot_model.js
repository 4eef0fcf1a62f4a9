// SPDX-License-Identifier: Apache-2.0
// The arm as three.js objects: one group per link, its bodies within, posed from the run's frames.
'use strict';

const RobotModel = (() => {
  const CREASE = Math.cos(0.6); // rad: faces that meet at less are shaded as one smooth surface

  // Normals per corner of a triangle soup: each the mean of the faces around the point that lie almost in one plane.
  // Meshes from STL files share no vertices, so points are compared by position.
  function setCreasedNormals(geometry) {
    const position = geometry.attributes.position;
    const count = position.count;
    const faces = [];
    const around = new Map();
    const a = new THREE.Vector3();
    const b = new THREE.Vector3();
    const c = new THREE.Vector3();
    const round = (v) => Math.round(v * 1e5);
    const key = (i) => `${round(position.getX(i))},${round(position.getY(i))},${round(position.getZ(i))}`;
    for (let i = 0; i < count; i += 3) {
      a.fromBufferAttribute(position, i);
      b.fromBufferAttribute(position, i + 1).sub(a);
      c.fromBufferAttribute(position, i + 2).sub(a);
      const normal = b.cross(c).clone(); // weighted by its length, twice the area
      faces.push({ normal, unit: normal.clone().normalize() });
      for (let k = i; k < i + 3; k++) {
        if (!around.has(key(k))) around.set(key(k), []);
        around.get(key(k)).push(faces[faces.length - 1]);
      }
    }
    const normals = new Float32Array(3 * count);
    const sum = new THREE.Vector3();
    for (let i = 0; i < count; i++) {
      const own = faces[Math.floor(i / 3)];
      sum.set(0, 0, 0);
      around.get(key(i)).forEach((face) => { if (face.unit.dot(own.unit) > CREASE) sum.add(face.normal); });
      sum.normalize().toArray(normals, 3 * i);
    }
    geometry.setAttribute('normal', new THREE.BufferAttribute(normals, 3));
  }

  function meshGeometry(visual) {
    const indexed = new THREE.BufferGeometry();
    indexed.setAttribute('position', new THREE.BufferAttribute(new Float32Array(visual.vertices), 3));
    indexed.setIndex(visual.triangles);
    const geometry = indexed.toNonIndexed();
    setCreasedNormals(geometry);
    return geometry;
  }

  function geometryOf(visual, fine) {
    const { radius, length } = visual;
    const sides = fine ? 40 : 20;
    switch (visual.type) {
      case 'box': return new THREE.BoxBufferGeometry(...visual.size);
      case 'sphere': return new THREE.SphereBufferGeometry(radius, sides, sides / 2);
      case 'cylinder': // three.js draws it along y, robot descriptions along z
        return new THREE.CylinderBufferGeometry(radius, radius, length, sides).rotateX(Math.PI / 2);
      case 'mesh': return meshGeometry(visual);
      default: throw new Error(`The report's data cannot be shown: visual type '${visual.type}' is not known.`);
    }
  }

  function body(visual, fine) {
    const [r, g, b, alpha] = visual.color || [0.7, 0.7, 0.7, 1];
    const geometry = geometryOf(visual, fine);
    const material = new THREE.MeshLambertMaterial({
      color: new THREE.Color(r, g, b), transparent: alpha < 1, opacity: alpha,
      polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1, // the edges lie on the faces
    });
    const mesh = new THREE.Mesh(geometry, material);
    mesh.castShadow = true;
    mesh.receiveShadow = true;
    const [x, y, z, qx, qy, qz, qw] = visual.pose || [0, 0, 0, 0, 0, 0, 1];
    mesh.position.set(x, y, z);
    mesh.quaternion.set(qx, qy, qz, qw);
    const edges = fine && new THREE.EdgesGeometry(geometry, 35);
    if (edges && edges.attributes.position.count > 0) { // an empty geometry would have infinite bounds
      const line = new THREE.LineBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.35 });
      mesh.add(new THREE.LineSegments(edges, line));
    }
    return mesh;
  }

  // fine: rounder bodies with their edges drawn, for a renderer that is fast enough.
  function create(robot, { fine }) {
    const root = new THREE.Group();
    robot.links.forEach((link) => {
      const group = new THREE.Group();
      (link.visuals || []).forEach((visual) => group.add(body(visual, fine)));
      root.add(group);
    });
    return root;
  }

  const turn = new THREE.Quaternion();

  // Between two frames positions are interpolated linearly and orientations by slerp.
  function pose(root, frames, t) {
    const i = ReportData.indexAt(frames.time, t);
    const next = Math.min(i + 1, frames.time.length - 1);
    const span = frames.time[next] - frames.time[i];
    const part = span > 0 ? Math.min(Math.max((t - frames.time[i]) / span, 0), 1) : 0;
    const from = frames.poses[i];
    const to = frames.poses[next];
    root.children.forEach((link, n) => {
      const k = 7 * n;
      link.position.set(...[0, 1, 2].map((axis) => from[k + axis] + part * (to[k + axis] - from[k + axis])));
      link.quaternion.fromArray(from, k + 3).slerp(turn.fromArray(to, k + 3), part);
    });
    root.updateMatrixWorld(true);
  }

  return { create, pose };
})();
