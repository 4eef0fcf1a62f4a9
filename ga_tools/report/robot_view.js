// SPDX-License-Identifier: Apache-2.0
// The arm in 3D with its paths, floor and camera. It is drawn only when something has changed.
'use strict';

class RobotView {
  constructor(canvas, data) {
    this.canvas = canvas;
    this.host = canvas.parentElement;
    this.data = data;
    this.run = data.runs[0];
    this.shown = data.runs.map(() => true);
    this.exaggeration = 1;
    this.time = 0;
    this.colors = { reference: '#888', runs: [] };
    // Uses another canvas: this one could no longer be used in 2D.
    this.webgl = Boolean(document.createElement('canvas').getContext('webgl'));
    this.renderer = this.webgl
      ? new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true }) // kept for printing
      : new PainterRenderer(canvas);
    if (this.webgl) {
      this.renderer.shadowMap.enabled = true;
      this.renderer.shadowMap.type = THREE.PCFShadowMap;
      this.renderer.debug.checkShaderErrors = false; // asking for them waits for each program's compiler
    }
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));

    this.scene = new THREE.Scene();
    this.robot = RobotModel.create(data.robot, { fine: this.webgl });
    this.scene.add(this.robot);
    this.measure();
    this.addLights();
    this.paths = new THREE.Group();
    this.scene.add(this.paths);
    this.addMarkers();
    this.addCamera();
    new ResizeObserver(() => this.resize()).observe(this.host);
    this.resize();
  }

  // The bounding box of the arm and its paths, and the floor: the lowest point of the first link, which does not move.
  measure() {
    const { frames } = this.run;
    const last = frames.time[frames.time.length - 1];
    this.armBox = new THREE.Box3();
    this.pathBox = new THREE.Box3();
    [0, 0.25, 0.5, 0.75, 1].forEach((part) => {
      RobotModel.pose(this.robot, frames, part * last);
      this.armBox.expandByObject(this.robot);
    });
    const point = new THREE.Vector3();
    const [x, y, z] = this.run.tool_ref;
    x.forEach((_, i) => {
      if (Number.isFinite(x[i] + y[i] + z[i])) this.pathBox.expandByPoint(point.set(x[i], y[i], z[i]));
    });
    this.armBox.union(this.pathBox);
    this.pathTolerance = this.pathBox.getSize(new THREE.Vector3()).length() / 4000; // below a pixel
    const base = new THREE.Box3().expandByObject(this.robot.children[0] || this.robot);
    this.floor = base.isEmpty() ? Math.min(0, this.armBox.min.z) : base.min.z;
  }

  addLights() {
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x9aa0a8, 0.62));
    const sun = new THREE.DirectionalLight(0xffffff, 0.45);
    const reach = this.armBox.getSize(new THREE.Vector3()).length();
    const center = this.armBox.getCenter(new THREE.Vector3());
    sun.position.copy(center).add(new THREE.Vector3(0.25, -0.45, 1).multiplyScalar(reach));
    sun.target.position.copy(center);
    sun.castShadow = true;
    Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach });
    Object.assign(sun.shadow.camera, { near: 0.01, far: 3 * reach });
    sun.shadow.mapSize.set(1024, 1024);
    sun.shadow.bias = -0.0015;
    sun.shadow.radius = 2;
    this.scene.add(sun, sun.target);
  }

  addMarkers() {
    const sphere = (radius) => new THREE.Mesh(
      new THREE.SphereBufferGeometry(radius, 20, 14), new THREE.MeshBasicMaterial());
    this.marker = sphere(0.011);
    this.referenceMarker = sphere(0.007);
    this.referenceMarker.material.depthTest = false;
    this.referenceMarker.renderOrder = 3;
    this.scene.add(this.marker, this.referenceMarker);
  }

  addCamera() {
    this.camera = new THREE.PerspectiveCamera(32, 1, 0.01, 100);
    this.camera.up.set(0, 0, 1);
    const lamp = new THREE.DirectionalLight(0xffffff, 0.35); // from beside the viewer, so that no side is dark
    lamp.position.set(-0.6, 0.3, 1);
    this.camera.add(lamp, lamp.target);
    this.scene.add(this.camera);
    this.controls = new THREE.OrbitControls(this.camera, this.canvas);
    this.controls.enableKeys = false; // the arrow keys step through time
    this.controls.screenSpacePanning = true;
    this.controls.minDistance = 0.05;
    this.controls.maxDistance = 20;
    this.controls.addEventListener('change', () => this.request());
    // The wheel scrolls the page until the view has been clicked.
    this.host.addEventListener('wheel', (event) => {
      if (document.activeElement !== this.canvas && !event.ctrlKey) event.stopPropagation();
    }, { capture: true, passive: true });
    this.look('arm');
  }

  // Slanted from above, from the usual side unless the path is much shorter from there: a straight one may be a point.
  slantedDirection() {
    const [x, y] = this.run.tool_ref;
    const sides = [-36, 9, -81, 54, -126, 99, -171, 144].map((degrees) => {
      const [dx, dy] = [Math.cos(degrees * Math.PI / 180), Math.sin(degrees * Math.PI / 180)];
      const across = x.map((_, i) => dx * y[i] - dy * x[i]).filter(Number.isFinite);
      const [low, high] = across.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
      return { direction: [1.06 * dx, 1.06 * dy, 0.42], extent: high - low };
    });
    const longest = sides.reduce((most, side) => Math.max(most, side.extent), 0);
    return (sides.find((side) => side.extent > 0.7 * longest) || sides[0]).direction;
  }

  look(name) {
    const slanted = this.slantedDirection();
    const directions = { arm: slanted, path: slanted, front: [1, 0, 0.02], side: [0, -1, 0.02], top: [0, -0.001, 1] };
    const box = name === 'path' ? this.pathBox : this.armBox;
    const radius = Math.max(box.getSize(new THREE.Vector3()).length() / 2, 0.05);
    const half = Math.min(1, this.camera.aspect) * Math.tan(THREE.Math.degToRad(this.camera.fov / 2));
    box.getCenter(this.controls.target);
    this.camera.position.set(...directions[name]).normalize().multiplyScalar(0.88 * radius / half);
    this.camera.position.add(this.controls.target);
    this.controls.update();
    this.request();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (!width || !height || (this.size && this.size.x === width && this.size.y === height)) return;
    const first = !this.size;
    this.size = new THREE.Vector2(width, height);
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.drawPaths();
    if (first) this.look('arm');
    else this.render(); // at once: resizing has cleared the canvas
  }

  setColors(colors) {
    this.colors = colors;
    this.renderer.setClearColor(colors.background, 1);
    if (this.ground) this.scene.remove(this.ground);
    this.ground = this.makeGround();
    this.scene.add(this.ground);
    this.drawPaths();
  }

  makeGround() {
    const ground = new THREE.Group();
    ground.position.z = this.floor;
    const reach = this.armBox.getSize(new THREE.Vector3()).length();
    const size = 2 * Math.ceil(reach); // m
    [[10 * size, this.colors.grid], [2 * size, this.colors.gridStrong]].forEach(([cells, color]) => {
      const grid = new THREE.GridHelper(size, cells, color, color);
      grid.rotation.x = Math.PI / 2;
      ground.add(grid);
    });
    ground.children[1].position.z = 0.0005;
    if (this.webgl) {
      const shadow = new THREE.ShadowMaterial({ opacity: this.colors.shadow });
      const plane = new THREE.Mesh(new THREE.PlaneBufferGeometry(size, size), shadow);
      plane.receiveShadow = true;
      ground.add(plane);
    }
    const axes = new THREE.AxesHelper(0.5); // x red, y green, z blue, below the robot's origin
    axes.position.z = 0.002;
    ground.add(axes);
    return ground;
  }

  setRun(index) {
    this.run = this.data.runs[index];
    this.drawPaths();
  }

  setShown(shown) {
    this.shown = shown;
    this.drawPaths();
  }

  setExaggeration(factor) {
    this.exaggeration = factor;
    this.drawPaths();
  }

  setTime(time) {
    this.time = time;
    this.request();
  }

  // The reference plus the enlarged error, at sample i.
  toolPoint(run, i) {
    return run.tool.map((axis, k) => run.tool_ref[k][i] + this.exaggeration * (axis[i] - run.tool_ref[k][i]));
  }

  drawPaths() {
    this.paths.children.slice().forEach((line) => {
      this.paths.remove(line);
      line.geometry.dispose();
      line.material.dispose();
    });
    if (!this.size) return;
    this.data.runs.forEach((run, n) => {
      const selected = run === this.run;
      if (!selected && !this.shown[n]) return;
      const points = run.time.map((_, i) => this.toolPoint(run, i));
      const style = selected ? { width: 3, order: 1 } : { width: 1.5, opacity: 0.6 };
      this.paths.add(this.line(points, this.colors.runs[n] || '#888', style));
    });
    const reference = this.run.time.map((_, i) => this.run.tool_ref.map((axis) => axis[i]));
    this.paths.add(this.line(reference, this.colors.reference, { width: 1.5, dashed: true, onTop: true, order: 2 }));
    this.request();
  }

  line(points, color, { width, opacity = 1, dashed = false, onTop = false, order = 0 }) {
    const finite = points.filter((point) => point.every(Number.isFinite));
    const corners = PathLines.simplified(finite.length > 1 ? finite : [[0, 0, 0], [0, 0, 0]], this.pathTolerance);
    const pairs = dashed ? PathLines.dashes(corners) : PathLines.segments(corners);
    let result;
    if (this.webgl) {
      const material = new THREE.LineMaterial({
        color: new THREE.Color(color), linewidth: width, transparent: true, opacity });
      material.resolution.copy(this.size);
      result = new THREE.LineSegments2(new THREE.LineSegmentsGeometry().setPositions(pairs.flat(2)), material);
    } else {
      const vectors = pairs.flat().map((point) => new THREE.Vector3(...point));
      const material = new THREE.LineBasicMaterial({ color, linewidth: width, opacity });
      result = new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(vectors), material);
    }
    result.material.depthTest = !onTop;
    result.renderOrder = order;
    result.frustumCulled = false;
    return result;
  }

  // As last drawn.
  linkPositions() {
    return this.robot.children.map((link) => link.position.toArray());
  }

  request() {
    if (this.requested) return;
    this.requested = true;
    requestAnimationFrame(() => this.render());
  }

  render() {
    this.requested = false;
    if (!this.size) return;
    const { run, time } = this;
    RobotModel.pose(this.robot, run.frames, time);
    const at = (columns) => columns.map((column) => ReportData.valueAt(run.time, column, time));
    const reference = new THREE.Vector3(...at(run.tool_ref));
    this.referenceMarker.position.copy(reference);
    this.marker.position.set(...at(run.tool)).sub(reference).multiplyScalar(this.exaggeration).add(reference);
    this.marker.material.color.set(this.colors.runs[this.data.runs.indexOf(run)] || '#888');
    this.referenceMarker.material.color.set(this.colors.reference);
    this.renderer.render(this.scene, this.camera);
  }
}
