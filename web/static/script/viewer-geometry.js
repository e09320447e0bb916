// @ts-check
// Sizes and positions of the pages of a document, at the current zoom.

import { pane, query, viewer } from './viewer.js';
import { load } from './viewer-connection.js';

// Pages and their sizes, in CSS pixels at 100 %.

/** @type {ViewerPage[]} */
export const pages = [];
for (const [times, width, height, pixels] of JSON.parse(viewer.dataset.sizes)) {
  for (let i = 0; i < times; i++)
    pages.push({
      width: (width * 96) / 72,
      height: (height * 96) / 72,
      pixels,
      turn: Number(viewer.dataset.turns[pages.length]) || 0,
    });
}
/** @type {number[]} */
export const widths = JSON.parse(viewer.dataset.widths); // widths of images that the server renders
export const gap = 12;
export const minScale = 0.1,
  maxScale = 8;
// How the pages are shown.
export const view = {
  fit: load('fit') || 'auto', // auto, width, page, or none: then scale is the zoom factor
  scale: 1,
  current: Math.min(Math.max(Number(viewer.dataset.page) || 1, 1), pages.length),
  ready: false, // the first page is in place
};
let extent = { width: 0, height: 0 };
export const column = document.createElement('div');
column.className = 'viewer-space';

// redraw draws what is in view (viewer-drawing.js).
export const redraw = () => viewer.dispatchEvent(new Event('viewer:redraw'));

/** @param {ViewerPage} page */
export const sizeOf = (page) =>
  page.turn % 2 ? { width: page.height, height: page.width } : { width: page.width, height: page.height };

/**
 * @param {ViewerPage} page
 * @param {{ width: number, height: number }} available
 */
const fitScale = (page, available) => {
  const { width, height } = sizeOf(page);
  const widthScale = available.width / width;
  switch (view.fit) {
    case 'width':
      return widthScale;
    case 'page':
      return Math.min(widthScale, available.height / height);
    case 'auto':
      return Math.min(widthScale, Math.max(1.25, 0.62 * widthScale));
    default:
      return view.scale;
  }
};

// layout positions the pages and keeps the page that is in the middle of the pane there.
export const layout = (anchor = anchorAt()) => {
  const available = {
    width: Math.max(pane.clientWidth - 2 * gap, 80),
    height: Math.max(pane.clientHeight - 2 * gap, 80),
  };
  let top = gap,
    widest = 0;
  for (const page of pages) {
    const size = sizeOf(page);
    page.scale = Math.min(Math.max(fitScale(page, available), minScale), maxScale);
    page.w = Math.round(size.width * page.scale);
    page.h = Math.round(size.height * page.scale);
    page.top = top;
    top += page.h + gap;
    widest = Math.max(widest, page.w);
  }
  extent = { width: Math.max(widest + 2 * gap, pane.clientWidth), height: top };
  column.style.width = `${Math.max(extent.width, pane.clientWidth)}px`;
  column.style.height = `${top}px`;
  for (const page of pages) page.left = Math.round((extent.width - page.w) / 2);
  if (anchor) restoreAnchor(anchor);
  query('[data-percent]').textContent = `${Math.round(pages[view.current - 1].scale * 100)}%`;
  if (view.ready) redraw();
};

// anchorAt returns the page position at a point of the pane. The default is the pane's middle.
export const anchorAt = (x = pane.clientWidth / 2, y = pane.clientHeight / 2) => {
  if (!pages[0].h) return null;
  const n = pageAt(pane.scrollTop + y);
  const page = pages[n - 1];
  return { n, x, y, fx: (pane.scrollLeft + x - page.left) / page.w, fy: (pane.scrollTop + y - page.top) / page.h };
};
/** @param {Anchor} anchor */
const restoreAnchor = ({ n, x, y, fx, fy }) => {
  const page = pages[n - 1];
  pane.scrollTop = page.top + fy * page.h - y;
  pane.scrollLeft = page.left + fx * page.w - x;
};

// pageAt returns the page at a vertical offset.
/** @param {number} y */
export const pageAt = (y) => {
  let low = 0,
    high = pages.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pages[middle].top - gap / 2 <= y) low = middle;
    else high = middle - 1;
  }
  return low + 1;
};

let paneSize = { width: 0, height: 0 };
// acceptPaneSize says that the pages are laid out for the pane as it is now.
export const acceptPaneSize = () => {
  paneSize = { width: pane.clientWidth, height: pane.clientHeight };
};
// watchPane lays out the pages again when the size of the pane changes. If the pane becomes too small for a position, the
// position is restored when the pane is larger again, unless the user scrolls in the meantime.
export const watchPane = () => {
  acceptPaneSize();
  const tolerance = 20; // a scrollbar that appears or disappears
  /** @type {{ anchor: Anchor, top: number }} */
  let held = null;
  new ResizeObserver(() => {
    if (paneSize.width === pane.clientWidth && paneSize.height === pane.clientHeight) return;
    if (!pane.clientWidth || !pane.clientHeight) return; // hidden for now: keep the position
    const { width, height } = paneSize;
    const isHeld = held && Math.abs(held.top - pane.scrollTop) <= tolerance;
    const anchor = isHeld ? held.anchor : anchorAt(width / 2, height / 2);
    acceptPaneSize();
    layout(anchor);
    held = anchor && { anchor, top: pane.scrollTop };
  }).observe(pane);
};
