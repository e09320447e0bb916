// @ts-check
// Turning pages, with keys, buttons, and the page number.

import { actions, keys, pane, viewer } from './viewer.js';
import { numberInput, setCurrentPage } from './viewer-current.js';
import { draw } from './viewer-drawing.js';
import { gap, pageAt, pages, view } from './viewer-geometry.js';

/** @param {number} n */
export const goTo = (n) => {
  n = Math.min(Math.max(n, 1), pages.length);
  const page = pages[n - 1];
  // Short pages are centered, long ones start at their top.
  const slack = Math.max((pane.clientHeight - page.h) / 2, 0);
  pane.scrollTop = page.top - Math.max(gap, slack);
  draw();
  setCurrentPage(n);
};

/** @param {number} by */
const turnPage = (by) => {
  const page = pages[view.current - 1];
  // From the middle of a long page, Previous goes to the top of the same page.
  if (by < 0 && pane.scrollTop > page.top + 0.15 * pane.clientHeight) goTo(view.current);
  else goTo(view.current + by);
};

// The instrument panel turns pages, too.
viewer.addEventListener('viewer:go', (event) => goTo(event.detail));

// scrollScreen scrolls by one screen, but not past the top of the next page.
/** @param {number} by */
const scrollScreen = (by) => {
  const screen = 0.88 * pane.clientHeight;
  const top = pane.scrollTop;
  if (by > 0) {
    const next = pages[pageAt(top + gap + 1)];
    const edge = next ? next.top - gap : Infinity;
    pane.scrollTop = edge > top + 2 && edge < top + screen ? edge : top + screen;
  } else {
    pane.scrollTop = top - screen;
  }
  draw();
};

/** @param {number} by */
const scrollSideways = (by) => {
  const maxScroll = pane.scrollWidth - pane.clientWidth;
  if (maxScroll < 2 || (by < 0 ? pane.scrollLeft <= 1 : pane.scrollLeft >= maxScroll - 1)) return false;
  pane.scrollLeft += by * 0.4 * pane.clientWidth;
  return true;
};

// scrollLines scrolls the page, or turns it if it fits.
/** @param {number} by */
const scrollLines = (by) => {
  if (view.fit === 'page') {
    goTo(view.current + by);
    return;
  }
  pane.scrollTop += by * 60;
  draw();
};

Object.assign(actions, {
  next: () => goTo(view.current + 1),
  previous: () => turnPage(-1),
  right: () => scrollSideways(1) || goTo(view.current + 1),
  left: () => scrollSideways(-1) || turnPage(-1),
  down: () => scrollLines(1),
  up: () => scrollLines(-1),
  on: (/** @type {KeyboardEvent} */ event) => scrollScreen(event.shiftKey ? -1 : 1),
  first: () => goTo(1),
  last: () => goTo(pages.length),
  number: () => {
    numberInput.focus();
    numberInput.select();
  },
});
Object.assign(keys, {
  ArrowRight: 'right',
  ArrowLeft: 'left',
  PageDown: 'next',
  PageUp: 'previous',
  ArrowDown: 'down',
  ArrowUp: 'up',
  ' ': 'on',
  Home: 'first',
  End: 'last',
  g: 'number',
  j: 'next',
  k: 'previous',
});

const pageForm = numberInput.form;
const goToTyped = () => {
  const n = Number.parseInt(numberInput.value, 10);
  if (n >= 1 && n <= pages.length) goTo(n);
  numberInput.value = String(view.current);
};
pageForm.addEventListener('submit', (event) => {
  event.preventDefault();
  goToTyped();
  pane.focus({ preventScroll: true });
});
numberInput.addEventListener('focus', () => numberInput.select());
numberInput.addEventListener('blur', goToTyped);
numberInput.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  numberInput.value = String(view.current);
  pane.focus({ preventScroll: true });
});
