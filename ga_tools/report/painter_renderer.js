// SPDX-License-Identifier: Apache-2.0
// Draws a three.js scene on a 2D canvas, farthest faces first, if the browser has no WebGL. Intersecting faces
// are drawn wrong; an arm stays recognizable.
'use strict';

class PainterRenderer {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.projector = new THREE.Projector();
    this.light = new THREE.Vector3(0.4, -0.5, 0.8).normalize();
    this.color = new THREE.Color();
    this.background = '#fff';
    this.pixelRatio = 1;
  }

  setPixelRatio(ratio) { this.pixelRatio = ratio; }

  setSize(width, height) {
    this.canvas.width = Math.round(width * this.pixelRatio);
    this.canvas.height = Math.round(height * this.pixelRatio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
  }

  setClearColor(color) { this.background = color; }

  render(scene, camera) {
    const { context, canvas } = this;
    context.globalAlpha = 1;
    context.fillStyle = this.background;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.lineJoin = 'round';
    const { elements } = this.projector.projectScene(scene, camera, true, true);
    const onTop = elements.filter((element) => !element.material.depthTest);
    elements.forEach((element) => { if (element.material.depthTest) this.draw(element); });
    onTop.forEach((element) => this.draw(element));
  }

  draw(element) {
    const { context } = this;
    const { material, v1, v2, v3 } = element;
    context.globalAlpha = material.opacity;
    context.beginPath();
    this.to('moveTo', v1);
    this.to('lineTo', v2);
    if (element instanceof THREE.RenderableLine) {
      const color = material.vertexColors === THREE.VertexColors ? element.vertexColors[0] : material.color;
      context.strokeStyle = color.getStyle();
      context.lineWidth = (material.linewidth || 1) * this.pixelRatio;
    } else {
      this.to('lineTo', v3);
      context.closePath();
      const lit = material.isMeshBasicMaterial ? 1 : 0.62 + 0.38 * element.normalModel.dot(this.light);
      context.fillStyle = this.color.copy(material.color).multiplyScalar(lit).getStyle();
      context.fill();
      context.strokeStyle = context.fillStyle; // closes the seams between faces
      context.lineWidth = 0.75 * this.pixelRatio;
    }
    context.stroke();
  }

  to(step, { positionScreen: { x, y } }) {
    this.context[step]((1 + x) * this.canvas.width / 2, (1 - y) * this.canvas.height / 2);
  }
}
