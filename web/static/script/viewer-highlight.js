// @ts-check
// Highlighting an area of a page, with the mouse, a pen, a finger, or the keyboard.

import { actions, announce, keys, pane, query, viewer } from './viewer.js';
import { card, closeCard, layerOf, openCard, place, pointsOf } from './viewer-areas.js';
import { pageElements } from './viewer-drawing.js';
import { pages, view } from './viewer-geometry.js';

const button = query('button[data-do="highlight"]');
const minSide = 8; // of an area, in CSS pixels
const stepSize = 8; // of an arrow key

/** @typedef {{ x: number, y: number, width: number, height: number }} Area */
// A box has fractions of the page as it is shown.
/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */

// The area that is being chosen, in points of the unrotated page.
/** @type {{ n: number, area: Area, el: HTMLButtonElement }} */
let draft = null;
const isMarking = () => pane.classList.contains('marking');

/** @param {number} points */
const round = (points) => Math.round(points * 100) / 100;
// areaOf returns the area of a box.
/**
 * @param {Box} box
 * @param {ViewerPage} page
 */
const areaOf = ({ left, top, right, bottom }, page) => {
  const [x0, y0, x1, y1] = [
    [left, top, right, bottom],
    [top, 1 - right, bottom, 1 - left],
    [1 - right, 1 - bottom, 1 - left, 1 - top],
    [1 - bottom, left, 1 - top, right],
  ][page.turn];
  const { width, height } = pointsOf(page);
  return {
    x: round(x0 * width),
    y: round(y0 * height),
    width: round((x1 - x0) * width),
    height: round((y1 - y0) * height),
  };
};
// boxOf is the inverse of areaOf.
/**
 * @param {Area} area
 * @param {ViewerPage} page
 * @returns {Box}
 */
const boxOf = (area, page) => {
  const { width, height } = pointsOf(page);
  const [x0, y0, x1, y1] = [
    area.x / width,
    area.y / height,
    (area.x + area.width) / width,
    (area.y + area.height) / height,
  ];
  const [left, top, right, bottom] = [
    [x0, y0, x1, y1],
    [1 - y1, x0, 1 - y0, x1],
    [1 - x1, 1 - y1, 1 - x0, 1 - y0],
    [y0, 1 - x1, y1, 1 - x0],
  ][page.turn];
  return { left, top, right, bottom };
};

/** @param {number} points */
const inches = (points) => (points / 72).toFixed(1);
const drawDraft = () => {
  const layer = draft && layerOf(draft.n);
  if (!layer) return;
  if (draft.el.parentElement !== layer) layer.append(draft.el);
  pageElements.get(draft.n).setAttribute('role', 'group'); // an image would hide the button from screen readers
  place(draft.el, pages[draft.n - 1], draft.area);
};
viewer.addEventListener('viewer:drawn', (event) => {
  if (event.detail === draft?.n) drawDraft();
});
const removeDraft = () => {
  draft?.el.remove();
  draft = null;
};
/**
 * @param {number} n
 * @param {Box} box
 */
const setDraft = (n, box) => {
  if (!draft) {
    const el = document.createElement('button');
    el.type = 'button';
    el.dataset.draft = '';
    el.setAttribute(
      'aria-label',
      'Area to highlight. Arrow keys move it, and resize it with Shift. Enter opens the note, Escape cancels.',
    );
    el.addEventListener('click', (event) => {
      if (event.detail === 0) openForm(); // the pointer has listeners of its own
    });
    draft = { n, area: null, el };
  }
  draft.n = n;
  draft.area = areaOf(box, pages[n - 1]);
  drawDraft();
};

// openForm opens the form of the note, or puts the area into it if it is open already.
const openForm = () => {
  const { x, y, width, height } = draft.area;
  const text = [x, y, width, height].join();
  const form = card.open && card.querySelector('form:has(input[name="area"])');
  if (form) {
    const { page, area: field } = /** @type {HTMLFormElement} */ (form).elements;
    page.value = String(draft.n);
    field.value = text;
    form.querySelector('textarea').focus({ preventScroll: true });
  } else openCard(`only=new&page=${draft.n}&area=${text}`);
};

// ---- starting and ending

// defaultBox returns a box in the middle of what is visible of the current page.
/** @param {number} n */
const defaultBox = (n) => {
  const page = pages[n - 1];
  /**
   * @param {number} start
   * @param {number} length
   * @param {number} from
   * @param {number} shown
   * @param {number} part
   */
  const side = (start, length, from, shown, part) => {
    const low = Math.max(from - start, 0),
      high = Math.min(from + shown - start, length);
    const middle = (low + high) / 2,
      half = Math.max(((high - low) * part) / 2, minSide);
    return [Math.max(middle - half, 0) / length, Math.min(middle + half, length) / length];
  };
  const [left, right] = side(page.left, page.w, pane.scrollLeft, pane.clientWidth, 0.5);
  const [top, bottom] = side(page.top, page.h, pane.scrollTop, pane.clientHeight, 0.2);
  return { left, top, right, bottom };
};
/** @type {{ n: number, id: number, x: number, y: number, moved: boolean }} */
let drag = null; // the pointer that draws an area
const start = () => {
  closeCard();
  if (card.open) return; // the user keeps changes that aren't saved
  pane.classList.add('marking');
  button.setAttribute('aria-pressed', 'true');
  setDraft(view.current, defaultBox(view.current));
  draft.el.focus({ preventScroll: true });
  announce('Drag over the page, or move the area with the arrow keys. Press Enter to write the note.');
};
const stop = () => {
  drag = null;
  const focused = document.activeElement === draft?.el;
  pane.classList.remove('marking');
  button?.setAttribute('aria-pressed', 'false');
  if (focused) pane.focus({ preventScroll: true });
};
const cancel = () => {
  if (!isMarking()) return;
  stop();
  removeDraft();
};
viewer.addEventListener('viewer:note-closed', cancel);
// The note is saved, and its area replaces the draft when it is loaded.
document.addEventListener('deedkeep:changed', stop);
viewer.addEventListener('viewer:areas', () => {
  if (!isMarking()) removeDraft();
});

// ---- keys

/** @type {Record<string, [number, number]>} */
const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/**
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
/**
 * @param {number} right
 * @param {number} down
 * @param {boolean} resize
 */
const move = (right, down, resize) => {
  const page = pages[draft.n - 1];
  const box = boxOf(draft.area, page);
  const dx = (right * stepSize) / page.w,
    dy = (down * stepSize) / page.h;
  if (resize) {
    box.right = clamp(box.right + dx, box.left + minSide / page.w, 1);
    box.bottom = clamp(box.bottom + dy, box.top + minSide / page.h, 1);
  } else {
    const x = clamp(dx, -box.left, 1 - box.right),
      y = clamp(dy, -box.top, 1 - box.bottom);
    box.left += x;
    box.right += x;
    box.top += y;
    box.bottom += y;
  }
  setDraft(draft.n, box);
  draft.el.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  const { area } = draft;
  announce(
    `${inches(area.width)} by ${inches(area.height)} inches, ${inches(area.x)} from the left, ${inches(area.y)} from the top`,
    200,
  );
};
window.addEventListener(
  'keydown',
  (event) => {
    if (!isMarking() || card.open || event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = event.target === draft?.el && arrows[event.key];
    if (event.key === 'Escape' && !document.querySelector('dialog:modal, details.menu[open]')) cancel();
    else if (arrow) move(...arrow, event.shiftKey);
    else return;
    event.preventDefault();
    event.stopPropagation();
  },
  true,
);

// ---- pointers

/** @param {PointerEvent} event */
const draggedBox = ({ clientX, clientY }) => {
  const frame = pageElements.get(drag.n).getBoundingClientRect();
  /** @param {number} x */
  const across = (x) => clamp((x - frame.left) / frame.width, 0, 1);
  /** @param {number} y */
  const down = (y) => clamp((y - frame.top) / frame.height, 0, 1);
  const xs = [across(drag.x), across(clientX)],
    ys = [down(drag.y), down(clientY)];
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
};
// These listeners are in the capture phase, before those that scroll the page.
pane.addEventListener(
  'pointerdown',
  (event) => {
    const paper = /** @type {Element} */ (event.target).closest('.viewer-paper');
    const n = [...pageElements].find(([, el]) => el === paper)?.[0];
    if (!isMarking() || event.button !== 0 || !n) return;
    event.preventDefault();
    event.stopPropagation();
    if (drag) {
      drag = null; // a second finger zooms
      return;
    }
    pane.setPointerCapture(event.pointerId);
    drag = { n, id: event.pointerId, x: event.clientX, y: event.clientY, moved: false };
  },
  true,
);
pane.addEventListener(
  'pointermove',
  (event) => {
    if (event.pointerId !== drag?.id) return;
    event.stopPropagation();
    drag.moved ||= Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 4;
    if (drag.moved) setDraft(drag.n, draggedBox(event));
  },
  true,
);
pane.addEventListener(
  'pointerup',
  (event) => {
    if (event.pointerId !== drag?.id) return;
    const { moved, n } = drag;
    const frame = draft.el.getBoundingClientRect();
    const isInside =
      event.clientX >= frame.left &&
      event.clientX <= frame.right &&
      event.clientY >= frame.top &&
      event.clientY <= frame.bottom;
    const isLarge = frame.width >= minSide && frame.height >= minSide;
    drag = null;
    if (!moved && !isInside) return;
    if (!isLarge) setDraft(n, defaultBox(n));
    else openForm();
  },
  true,
);
pane.addEventListener('pointercancel', () => {
  drag = null;
});

if (button) {
  actions.highlight = () => (isMarking() ? cancel() : start());
  keys.h = 'highlight';
}
