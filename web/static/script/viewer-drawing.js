// @ts-check
// The pages in view: their images, and their words.

import { base, finder, pane, viewer } from './viewer.js';
import { setCurrentPage } from './viewer-current.js';
import { column, pageAt, pages, view } from './viewer-geometry.js';
import { bestImage, connection, imageUrl, imageWidth, isBroken, isLoading, loadImages } from './viewer-images.js';
import { fillWords, wordLayer } from './viewer-words.js';

// Only visible pages and one more page on each side have an element.

export const pageElements = new Map(); // n → element
/** @param {number} n */
const pageElement = (n) => {
  let el = pageElements.get(n);
  if (el) return el;
  el = document.createElement('div');
  el.className = 'viewer-paper';
  el.setAttribute('role', 'img');
  el.setAttribute('aria-label', `Page ${n}`);
  const marks = document.createElement('div');
  marks.className = 'viewer-marks';
  const areas = document.createElement('div'); // viewer-areas.js fills it
  areas.className = 'viewer-areas';
  el.append(marks, areas, wordLayer());
  pageElements.set(n, el);
  column.append(el);
  return el;
};

/** @param {number} n */
const updatePage = (n) => {
  const page = pages[n - 1];
  const el = pageElement(n);
  el.style.left = `${page.left}px`;
  el.style.top = `${page.top}px`;
  el.style.width = `${page.w}px`;
  el.style.height = `${page.h}px`;
  const { turn } = page;
  const unrotated = turn % 2 ? { w: page.h, h: page.w } : { w: page.w, h: page.h };
  const transform = [
    `none`,
    `translate(${page.w}px, 0) rotate(90deg)`,
    `translate(${page.w}px, ${page.h}px) rotate(180deg)`,
    `translate(0, ${page.h}px) rotate(270deg)`,
  ][turn];
  const image = bestImage(n, imageWidth(page));
  const shown = el.querySelector('img');
  if (image && shown !== image) {
    if (shown) shown.remove();
    el.prepend(image);
    el.classList.remove('failed');
  }
  const broken = isBroken(imageUrl(n, imageWidth(page)));
  el.classList.toggle('waiting', !image && !broken && !connection.state());
  el.classList.toggle('absent', !image && !broken && Boolean(connection.state()));
  el.classList.toggle('failed', !image && broken);
  for (const part of el.children) {
    part.style.width = `${unrotated.w}px`;
    part.style.height = `${unrotated.h}px`;
    part.style.transform = transform;
  }
  viewer.dispatchEvent(new CustomEvent('viewer:drawn', { detail: n }));
  if (image) drawWords(n);
};

// The words of a page are requested once its image is shown, and kept for the last pages shown.
const wordsByPage = new Map();
const maxWordPages = 40;
/** @param {number} n */
const drawWords = async (n) => {
  if (!finder || connection.state()) return;
  if (!wordsByPage.has(n)) {
    wordsByPage.set(
      n,
      connection
        .request(`${base}/pages/${n}/words`)
        .then((r) => (r.ok ? r.json() : null))
        .catch(() => /** @type {null} */ (null)),
    );
    if (wordsByPage.size > maxWordPages) wordsByPage.delete(wordsByPage.keys().next().value);
  }
  const words = await wordsByPage.get(n);
  // A page that isn't read yet is requested again after a while.
  if (!words?.words.length) setTimeout(() => wordsByPage.delete(n), 10_000);
  const el = pageElements.get(n);
  if (words && el) fillWords(el, words, pages[n - 1]);
};

export const draw = () => {
  const top = pane.scrollTop,
    bottom = top + pane.clientHeight;
  const first = pageAt(top),
    last = pageAt(bottom);
  for (const [n, el] of pageElements) {
    if (n < first - 1 || n > last + 1) {
      el.remove();
      pageElements.delete(n);
    }
  }
  const from = Math.max(first - 1, 1),
    to = Math.min(last + 1, pages.length);
  const order = [];
  for (let n = first; n <= last; n++) order.push(n);
  order.sort((a, b) => Math.abs(a - view.current) - Math.abs(b - view.current));
  const urgentCount = order.length;
  for (const n of [last + 1, last + 2, first - 1, last + 3]) {
    if (n >= 1 && n <= pages.length) order.push(n);
  }
  const wanted = order.map((n) => imageUrl(n, imageWidth(pages[n - 1])));
  for (let n = from; n <= to; n++) updatePage(n);
  loadImages(wanted, urgentCount);
  prerenderNext();
  setCurrentPage(mostVisiblePage(top, bottom, first, last));
};

// mostVisiblePage returns the page with the largest visible area. On a tie, it returns the first.
/**
 * @param {number} top
 * @param {number} bottom
 * @param {number} first
 * @param {number} last
 */
const mostVisiblePage = (top, bottom, first, last) => {
  let found = first,
    maxVisible = -1;
  for (let n = first; n <= last; n++) {
    const page = pages[n - 1];
    const part = Math.min(bottom, page.top + page.h) - Math.max(top, page.top);
    if (part > maxVisible + 1) [found, maxVisible] = [n, part];
  }
  return found;
};

// prerenderNext makes the server render the first page of the next document. The request returns no
// content, so it is not recorded as a view.
let prerendered = false;
const prerenderNext = () => {
  if (prerendered || isLoading() || !viewer.dataset.warm) return;
  prerendered = true;
  fetch(`${viewer.dataset.warm}?w=${imageWidth(pages[0])}`, { method: 'HEAD' }).catch(() => {});
};

viewer.addEventListener('viewer:redraw', draw);

let frameRequest = 0;
pane.addEventListener(
  'scroll',
  () => {
    if (frameRequest) return;
    frameRequest = requestAnimationFrame(() => {
      frameRequest = 0;
      draw();
    });
  },
  { passive: true },
);
