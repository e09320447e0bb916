// @ts-check
// Zoom with keys, buttons, the wheel, and two fingers, and dragging of a page that is larger than the pane.

import { actions, announce, keys, pane, query } from './viewer.js';
import { store } from './viewer-connection.js';
import { anchorAt, layout, maxScale, minScale, pages, view } from './viewer-geometry.js';

export const updateFitButtons = () => {
  for (const name of ['width', 'page'])
    query(`[data-do="${name}"]`).setAttribute('aria-pressed', String(view.fit === name));
};
/** @param {'width' | 'page'} name */
const fitTo = (name) => {
  view.fit = name;
  store('fit', name);
  updateFitButtons();
  layout();
};
/** @param {number} to */
const zoomTo = (to, anchor = anchorAt()) => {
  view.fit = 'none';
  view.scale = Math.min(Math.max(to, minScale), maxScale);
  store('fit', 'none');
  store('scale', view.scale);
  updateFitButtons();
  layout(anchor);
};
const steps = [0.1, 0.17, 0.25, 0.33, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 6, 8];
/** @param {number} by */
const zoomBy = (by) => {
  const now = pages[view.current - 1].scale;
  const to = by > 0 ? steps.find((s) => s > now * 1.02) : [...steps].reverse().find((s) => s < now * 0.98);
  if (to) zoomTo(to);
  announce(`${Math.round(pages[view.current - 1].scale * 100)} percent`);
};

Object.assign(actions, {
  in: () => zoomBy(1),
  out: () => zoomBy(-1),
  actual: () => zoomTo(1),
  width: () => fitTo('width'),
  page: () => fitTo('page'),
});
Object.assign(keys, { '+': 'in', '=': 'in', '-': 'out', _: 'out', 0: 'actual', w: 'width', f: 'page' });

pane.addEventListener(
  'wheel',
  (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = pane.getBoundingClientRect();
    const now = pages[view.current - 1].scale;
    zoomTo(
      now * Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 200),
      anchorAt(event.clientX - box.left, event.clientY - box.top),
    );
  },
  { passive: false },
);

// Two fingers zoom, one finger scrolls.
/** @type {{ length: number, scale: number, anchor: Anchor }} */
let pinch = null;
/** @param {TouchList} touches */
const spanOf = (touches) => {
  const box = pane.getBoundingClientRect();
  const [a, b] = touches;
  return {
    length: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY),
    x: (a.clientX + b.clientX) / 2 - box.left,
    y: (a.clientY + b.clientY) / 2 - box.top,
  };
};
pane.addEventListener(
  'touchstart',
  (event) => {
    if (event.touches.length !== 2) return;
    event.preventDefault();
    const span = spanOf(event.touches);
    pinch = { length: span.length, scale: pages[view.current - 1].scale, anchor: anchorAt(span.x, span.y) };
  },
  { passive: false },
);
pane.addEventListener(
  'touchmove',
  (event) => {
    if (!pinch || event.touches.length !== 2) return;
    event.preventDefault();
    const span = spanOf(event.touches);
    zoomTo((pinch.scale * span.length) / Math.max(pinch.length, 20), { ...pinch.anchor, x: span.x, y: span.y });
  },
  { passive: false },
);
pane.addEventListener('touchend', () => {
  pinch = null;
});

// Dragging with the mouse scrolls a page that is larger than the pane.
/** @type {{ x: number, y: number, left: number, top: number }} */
let drag = null;
pane.addEventListener('pointerdown', (event) => {
  if (event.pointerType !== 'mouse' || event.button !== 0 || event.target === pane) return;
  if (!event.shiftKey) getSelection().removeAllRanges();
  if (event.target.closest('.viewer-words span')) return; // the browser selects words
  drag = { x: event.clientX, y: event.clientY, left: pane.scrollLeft, top: pane.scrollTop };
  pane.setPointerCapture(event.pointerId);
});
pane.addEventListener('pointermove', (event) => {
  if (!drag) return;
  pane.classList.add('dragging');
  pane.scrollLeft = drag.left - event.clientX + drag.x;
  pane.scrollTop = drag.top - event.clientY + drag.y;
});
for (const name of ['pointerup', 'pointercancel']) {
  pane.addEventListener(name, () => {
    drag = null;
    pane.classList.remove('dragging');
  });
}
pane.addEventListener('dragstart', (event) => event.preventDefault());
